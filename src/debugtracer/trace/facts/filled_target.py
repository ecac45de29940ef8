"""Class labels that are one number everywhere but where others were written, and that number is among these."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class FilledTarget(Fact, frozen=True, kw_only=True):
    """The target of a loss over classes, in an inspected step; told where labels were written by a tensor of
    places."""

    fill: int
    """The number it was filled with: no object, background."""
    classes: int
    """Scores that the loss has for each place."""
    filled: int
    """Places that were left as they were filled."""
    written: int
    same: int
    """Written labels that are the number it was filled with."""
    loss: str
    frame: Frame | None
    """The line that fills it."""
    loss_frame: Frame | None
    made: tuple[Frame, ...] = ()
    """The lines from the one that made the number to the one that handed it on last."""

    def key(self) -> object:
        """Identify the line and the look: the check counts them."""
        return self.frame, self.ref.step
