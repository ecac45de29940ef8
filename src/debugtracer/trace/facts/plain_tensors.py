"""Plain tensors in an optimizer that ask for no gradient: step() passes them by."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class PlainTensors(Fact, frozen=True, kw_only=True):
    """One optimizer, at the end of the run or at a loss that hangs on nothing."""

    ABOUT = "an optimizer"
    KEEP = 16

    optimizer: str
    """Its class."""
    number: int
    """Which optimizer, in the order of their first looks."""
    count: int
    """Tensors it holds that are no Parameter, have requires_grad False and no gradient, and were not written since the
    first look."""
    held: int
    """All that it holds."""
    shape: tuple[int, ...] = ()
    """Of the first of them."""
    built: Frame | None = None
    made: Frame | None = None
    """The line that made the first of them."""
    looks: int = 0
    """Updates of it that were looked at, with the same ones in all of them and at the end."""
    loose: Frame | None = None
    """The line of a backward whose loss hangs on nothing, where the look was made there."""

    def key(self) -> object:
        """Identify the optimizer that the fact is about."""
        return self.number
