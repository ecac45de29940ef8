"""How a step adapts weights in an inner loop, and which rows its outer loss takes."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class InnerUpdate(Fact, frozen=True, kw_only=True):
    """Seen in one inspected step: weights plus a multiple of the gradient of a loss, which keeps its graph."""

    KEEP = 64

    updates: int
    """Tensors that were made of a weight and its gradient."""
    ascending: int
    """Those that go where the loss grows."""
    outer: int
    """Losses of the adapted weights that the backward leads to."""
    same: int
    """Those with a target that an inner loss had."""
    unread: int
    """Tensors like those targets, and of as many rows, that were there before and that nothing has read."""
    frame: Frame | None = None
    """The line that makes the first adapted weight."""
    outer_frame: Frame | None = None
    """The line of the last outer loss."""
    unread_frame: Frame | None = None
    """The line that made the first tensor that nothing read."""

    def key(self) -> object:
        """Identify the lines and the look: the checks count them."""
        return self.frame, self.outer_frame, self.ref.step
