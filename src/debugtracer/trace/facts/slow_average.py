"""An average of the weights that is used and has hardly left its first values."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.number import Number


class SlowAverage(Fact, frozen=True, kw_only=True):
    """A copy of the weights took over a share of them in each update; when it was evaluated late in the run, it lay
    near what it began with, and the weights that are trained far from it."""

    param: str
    """Path of the parameter that was followed."""
    share: Number
    """What is taken of the parameter in an update, at the last look."""
    updates: int
    """Updates since the first average."""
    covered: Number
    """The part of the way from its first values that the product of the shares lets it go."""
    evaluated: Number
    """Its distance from the first values in the last evaluation, as a part of that of the trained weights."""
    frame: Frame | None
    """The line that averages."""
    given: Frame | None
    """The line that gives the share; None where it is that line or cannot be followed."""
    called: Frame | None
    """The line of that evaluation."""

    def key(self) -> object:
        """Identify the line that averages."""
        return self.frame
