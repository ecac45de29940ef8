"""What a ReduceLROnPlateau is told, and what it makes of it."""

from __future__ import annotations

from typing import Literal

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.number import Number


class PlateauFed(Fact, frozen=True, kw_only=True):
    """One call of its step."""

    ABOUT = "a scheduler"
    KEEP = 64

    scheduler: int
    frame: Frame | None
    """Where the user built it."""
    step_frame: Frame | None
    mode: Literal["min", "max"]
    patience: int
    threshold: float
    relative: bool
    """The threshold is a share of the best value."""
    value: Number
    rate: Number
    """The rate after the call, the largest of its groups."""

    def key(self) -> object:
        """Identify the call: each one is new."""
        return self.scheduler, self.ref.step
