"""A loss whose gradient comes back to padding alone."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.number import Number


class TrainedPadding(Fact, frozen=True, kw_only=True):
    """Seen in one backward of an inspected step, at the output of one model."""

    KEEP = 16

    value: Number
    """What all targets are at the positions that get a gradient, and at no other."""
    whole: bool
    """It is an id, no measured number."""
    kept: Number
    """Share of the positions that get one."""
    others: int
    """Different targets at the others; counted to 64."""
    root: str
    """The class of the model."""
    loss: str = ""
    loss_frame: Frame | None = None
    compared: Frame | None = None
    """The line that compares something of the same shape with that value; None where none does."""

    def key(self) -> object:
        """Identify the line and the look: the check counts them."""
        return self.compared, self.loss_frame, self.ref.step
