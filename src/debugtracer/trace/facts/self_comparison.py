"""A term of the loss that compares a value with itself and has no graph."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class SelfComparison(Fact, frozen=True, kw_only=True):
    """Seen in one inspected step."""

    function: str
    """The loss function."""
    shape: tuple[int, ...]
    """Of both its arguments."""
    frame: Frame | None
    """The line that calls it."""
    sum_frame: Frame | None
    """The line that adds the term to the loss."""

    def key(self) -> object:
        """Identify the line and the look: the check counts them."""
        return self.frame, self.ref.step
