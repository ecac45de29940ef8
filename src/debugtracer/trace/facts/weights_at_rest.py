"""A stored value that changed while nothing should have written it."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.number import Number


class ValueChanged(Fact, frozen=True, kw_only=True):
    """Exactly one of all parameters and optimizer moments changed between two updates: in one element, or in several
    that grew far beyond it.

    At an incident also: one element of all went far out within the last updates.
    """

    ABOUT = "an optimizer"
    KEEP = 32

    param: str
    what: str
    """`parameter`, or the name of the optimizer's moment (`exp_avg_sq`)."""
    index: tuple[int, ...]
    """Of the element that changed; of several, the one that is largest now."""
    before: Number
    after: Number
    rms: Number
    """Root mean square of the tensor before."""
    count: int = 1
    """Elements that changed."""
    updates: int = 0
    """Updates since the value before; 0: none, it changed between two."""
    bits: int
    """Bits that differ."""
    bit: int
    """The highest of them; the sign is the highest bit of `width`."""
    width: int
    frame: Frame | None = None
    """A line of the running program that assigns to single elements of this tensor, if there is one."""
    written: bool
    """An operator of torch wrote to the tensor meanwhile (its version moved)."""

    def key(self) -> object:
        """Identify the fact itself: each change is new."""
        return self.ref.iteration
