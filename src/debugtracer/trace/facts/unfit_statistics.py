"""A network that is evaluated with running statistics which do not fit its weights, measured on the batch that it was
given."""

from __future__ import annotations

from typing import Literal

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.number import Number


class UnfitStatistics(Fact, frozen=True, kw_only=True):
    """Told once."""

    ABOUT = "a batch norm"

    kind: str
    """The class of the network."""
    how: Literal["averaged", "loaded", "written", "exchanged"]
    """averaged: torch's AveragedModel; loaded: a copy whose weights came from a state dict that is none of the trained
    network's; written: a copy whose weights were written in place; exchanged: the trained network itself, with other
    weights than before and the same statistics."""
    norms: int
    """Its batch norms."""
    module: str
    """The first of them."""
    off: Number
    """Share of their channels whose batches have another mean or variance than the running ones."""
    trained: Number
    """The same of the trained network, given the same batch; of `exchanged` with its own weights, at an evaluation
    before."""
    frame: Frame | None
    """The line that evaluates it."""
    loaded: Frame | None = None
    """The line that loaded its weights."""

    def key(self) -> object:
        """Identify the line that evaluates."""
        return self.frame
