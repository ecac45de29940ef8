"""What a binary loss asked of one output layer in one step: one and the same answer for all of its inputs, or both."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.number import Number


class SingleTarget(Fact, frozen=True, kw_only=True):
    """Seen in one inspected step of one optimizer, for one parameter that it holds."""

    param: str
    """The parameter nearest to the scores."""
    loss: str
    calls: int
    """Calls of the loss, each on scores of its own."""
    places: int
    """Places of the program that make them."""
    asked: Number | None
    """The target of all of them; None where there were several."""
    frame: Frame | None
    """The line of the last call."""
    made: Frame | None
    """The line that made its targets, where it is known."""

    def key(self) -> object:
        """Identify the parameter and the look: the check counts them."""
        return self.param, self.ref.step
