"""The batch behind a loss that stands out at once, kept while it is still known which samples it held."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.number import Number


class OutlyingBatch(Fact, frozen=True, kw_only=True):
    """A loss above all of the last ones; whether it is a spike is for the checks to say."""

    KEEP = 64

    loss: Number
    indices: tuple[int, ...]
    """Dataset index of each row."""
    frame: Frame | None
    """Where its loader was built."""
    backward: Frame | None
    """Where backward was called."""
    other_data: bool = False
    """It is among the first of another dataset than all of the many steps before read: another task or stage."""

    def key(self) -> object:
        """Identify the fact itself: each one is new."""
        return self.ref.iteration
