"""The norm of a gradient penalty that is not taken of each sample."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class PenaltyAxes(Fact, frozen=True, kw_only=True):
    """Seen where something is subtracted from the norm; once a line and step."""

    KEEP = 16

    function: str
    """What folds the axes: norm, sum."""
    shape: tuple[int, ...]
    """Of the gradient, samples first, as it is folded."""
    folded: tuple[int, ...]
    """The axes that the norm is taken over."""
    frame: Frame | None
    """The line that folds them."""
    grad_frame: Frame | None
    """The line of torch.autograd.grad."""

    def key(self) -> object:
        """Identify the line and the step."""
        return self.frame, self.ref.step
