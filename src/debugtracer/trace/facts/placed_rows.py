"""Stored vectors that are added to samples by their place in the batch."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class PlacedRows(Fact, frozen=True, kw_only=True):
    """Seen in one inspected step, in one call of a model; its input was another one in the look before."""

    KEEP = 16

    shape: tuple[int, ...]
    """Of what they are added to: samples, positions, features."""
    added: tuple[int, ...]
    """Of what is added."""
    stored: int
    """Vectors that the table has."""
    name: str = ""
    """The buffer or parameter that the table is; empty for a tensor that is none."""
    by_loader: bool = False
    """The loader says that the first dimension is the batch; else the outputs, one row a sample, do."""
    module: str | None = None
    frame: Frame | None = None

    def key(self) -> object:
        """Identify the line and the look: the check counts them."""
        return self.frame, self.ref.step
