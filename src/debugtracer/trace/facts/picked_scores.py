"""Log-probabilities of which one is picked for each target, by gather or by an index."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.facts.loss_call import Maker
from debugtracer.trace.number import Number


class PickedScores(Fact, frozen=True, kw_only=True):
    """One pick of an inspected step."""

    ABOUT = "a pick of log-probabilities"
    KEEP = 32

    frame: Frame | None = None
    """The line that picks."""
    function: str
    """gather, __getitem__."""
    number: int = 0
    """Picks seen before it in the run."""
    maker: Maker
    dim: int
    """The dimension along which one is picked."""
    size: int
    picks: int
    low: Number
    high: Number
    """Range of the sums of the probabilities along that dimension."""

    def key(self) -> object:
        """Identify the line that picks."""
        return self.frame
