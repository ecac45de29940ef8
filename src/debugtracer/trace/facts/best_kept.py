"""What a keeper of the best model, or one that stops without a better one, is told."""

from __future__ import annotations

from typing import Literal

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.number import Number


class BestKept(Fact, frozen=True, kw_only=True):
    """One value that was compared with the best so far."""

    ABOUT = "a keeper of the best"
    KEEP = 64

    keeper: int
    owner: str
    """Its class; the condition of a loop that compares itself."""
    monitor: str
    mode: Literal["min", "max"]
    count: int
    """How many values it was given before."""
    value: Number
    frame: Frame | None = None
    """Where the user built it, or the line that trains, or that compares."""
    own: bool = False
    """A line of the program compares, and no library."""
    best: Number | None = None
    """The best value after the comparison, where it can be read."""
    begun: Frame | None = None
    """The line of the program that sets it first."""

    def key(self) -> object:
        """Identify the value; each one is new."""
        return self.keeper, self.count
