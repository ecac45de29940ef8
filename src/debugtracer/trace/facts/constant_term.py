"""A term of the loss, or a part of one, made of gradients that have no graph: a constant for the backward."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class ConstantTerm(Fact, frozen=True, kw_only=True):
    """Seen in one inspected step."""

    frame: Frame | None
    """The line that calls torch.autograd.grad."""
    sum_frame: Frame | None
    """The line that adds the term to the loss."""
    mixed: bool = False
    """It is added to values that have a graph, before they become a number: the term has a gradient, but not through
    this part."""

    def key(self) -> object:
        """Identify the line and the look: the check counts them."""
        return self.frame, self.ref.step
