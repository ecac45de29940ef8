"""Elements of gradients that are far beyond what Adam's second moment knows of them, at one step."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.number import Number

BEYOND = 5000.0  # times the second moment: the threshold of SPAM 2025 (docs/rationale/spikes.md#spam)


class SpikedParam(msgspec.Struct, frozen=True, kw_only=True):
    """One parameter with such elements."""

    name: str
    numel: int
    sampled: int
    """Elements looked at whose second moment is not far below that of the others (a row seen too rarely)."""
    spiked: int
    """Of these: g^2 above BEYOND times the bias-corrected second moment from before the update."""
    most: Number
    """The largest g^2 / v among them."""


class ElementSpikes(Fact, frozen=True, kw_only=True):
    """A look at the gradients just before an update that found such elements."""

    ABOUT = "an optimizer"
    KEEP = 16

    optimizer: str
    params: tuple[SpikedParam, ...]
    looked: int
    """Parameters looked at."""
    age: int
    """Updates that the second moment has seen, the least of all parameters."""
    standout: bool
    """Looked at because the loss stood out; else an inspected step."""

    def key(self) -> object:
        """Identify the fact itself: each one is new."""
        return self.ref.iteration
