"""A copy of the weights that is averaged with itself."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.number import Number


class OwnAverage(Fact, frozen=True, kw_only=True):
    """Both sides of an average whose weights add up to 1 were one tensor, which no optimizer holds and which has the
    shape of a parameter that one does; seen in one inspected step."""

    shape: tuple[int, ...]
    kept: Number
    taken: Number
    frame: Frame | None
    """The line that averages."""
    caller: Frame | None
    """The line that called its function, with what the two sides are taken from; none at the level of the module."""

    def key(self) -> object:
        """Identify the line and the step it was seen in."""
        return self.frame, self.ref.step
