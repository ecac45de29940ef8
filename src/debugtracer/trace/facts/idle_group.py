"""A group of parameters whose learning rate was 0 in every update of the run, and whose weights nobody has set."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.number import Number


class IdleGroup(Fact, frozen=True, kw_only=True):
    """Told once, when the run is over."""

    ABOUT = "an optimizer"

    optimizer: int
    kind: str
    frame: Frame | None
    """Where the user built the optimizer."""
    group: int
    """Its place among the groups of the optimizer."""
    groups: int
    updates: int
    values: int
    """Numbers that it holds."""
    share: float
    """Of all numbers that the optimizer holds."""
    param: str
    """A matrix of it that has a gradient and still has the values that a new layer is drawn with."""
    rate: Number
    """The largest rate of the other groups."""

    def key(self) -> object:
        """Identify the optimizer and its group."""
        return self.optimizer, self.group
