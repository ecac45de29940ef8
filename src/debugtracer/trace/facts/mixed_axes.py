"""Scores of a loss over classes that were laid out with their classes second and cut into rows as if they were last."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class MixedAxes(Fact, frozen=True, kw_only=True):
    """Seen at one loss call of an inspected step; once a line."""

    function: str
    """view or reshape."""
    shape: tuple[int, ...]
    """Shape before: (batch, classes, positions ...)."""
    classes: int
    frame: Frame | None
    """The line that cut it into rows."""
    loss: str
    loss_frame: Frame | None

    def key(self) -> object:
        """Identify the line that cut the rows."""
        return self.frame
