"""The rows that the prediction and the target of a loss were taken from, where both were taken by index."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class RowsTaken(Fact, frozen=True, kw_only=True):
    """Seen in one inspected step."""

    loss: str
    """The function that compares them: mse_loss, cross_entropy ..."""
    loss_frame: Frame | None
    frame: Frame | None
    """The line that took the targets."""
    input_frame: Frame | None
    """The line that took the inputs, or the predictions."""
    length: int
    """Rows of what both were taken from: two tensors of one length."""
    rows: int
    """Rows that were compared."""
    same: int
    """Those of which the input and the target have one number."""
    shifted: bool
    """All target rows stand as far from their input rows."""
    whole: bool = False
    """Each side was put in an order of all its rows before batches were taken of it: one look is enough."""
    first: tuple[tuple[int, int], ...]
    """The first pairs of an input row and a target row."""

    def key(self) -> object:
        """Identify the lines and the look: the check counts them."""
        return self.loss_frame, self.frame, self.ref.step
