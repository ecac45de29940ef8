"""A number far from all others in a batch that no loader delivered, seen in a step whose loss left all bounds."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.number import Number


class FarNumber(Fact, frozen=True, kw_only=True):
    """One tensor of the step, the number in it, and the line of a data file that it stands on."""

    KEEP = 16

    loss: Number
    usual: float
    """The loss before it."""
    name: str
    """What the program calls the tensor."""
    row: int
    place: tuple[int, ...]
    """Within the row."""
    value: Number
    low: Number
    high: Number
    """The least and the most that the other rows have at that place."""
    record: Frame | None
    """The only line of the data files on which it stands."""
    made: Frame | None
    """The line that made the tensor."""
    backward: Frame | None
    """Where backward was called."""

    def key(self) -> object:
        """Identify the fact itself: each one is new."""
        return self.ref.iteration
