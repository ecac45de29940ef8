"""A quotient of sums in a loss that says how far a prediction and a mask overlap: Dice, or intersection over union."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class OverlapLoss(Fact, frozen=True, kw_only=True):
    """Seen in one inspected step, where something about it is not as it should be."""

    KEEP = 16

    layer: str = ""
    """The kind of layer whose output, not squashed, is the prediction: linear or convolution; "" where something
    squashes it."""
    falls: bool = False
    """The loss grows with the overlap, so training makes it smaller."""
    shape: tuple[int, ...]
    """Of the mask."""
    frame: Frame | None
    """The line of the quotient."""
    product_frame: Frame | None = None
    """The line that multiplies prediction and mask."""

    def key(self) -> object:
        """Identify the line and the look: the check counts them."""
        return self.frame, self.ref.step
