"""A term of the loss that was computed from what is trained, and has no graph."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class CutTerm(Fact, frozen=True, kw_only=True):
    """Seen in one inspected step: a mean or a sum without a graph is added to the loss, and used nowhere else."""

    function: str
    """What ended the graph: no_grad, detach or data."""
    reduced: str
    """The function that made one number of it: mean, mse_loss ..."""
    frame: Frame | None
    """The line that ended it."""
    sum_frame: Frame | None = None
    """The line that adds the term."""

    def key(self) -> object:
        """Identify the line and the look: the check counts them."""
        return self.frame, self.sum_frame, self.ref.step
