"""A target that is a random draw which nothing else of the step has used."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class DrawnTarget(Fact, frozen=True, kw_only=True):
    """Seen in one inspected step."""

    draw: str
    """The function that drew it: randn_like, rand ..."""
    frame: Frame | None
    """The line that drew it."""
    loss: str
    """The function that compares it with the prediction: mse_loss, sub ..."""
    loss_frame: Frame | None

    def key(self) -> object:
        """Identify the line and the look: the check counts them."""
        return self.frame, self.ref.step
