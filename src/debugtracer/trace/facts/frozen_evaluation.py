"""Parameters that an evaluation found frozen though the update before it had trained them, and that stayed frozen."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class FrozenEvaluation(Fact, frozen=True, kw_only=True):
    """Seen at the next evaluation, or when the run is over."""

    ABOUT = "an optimizer"
    KEEP = 8

    params: tuple[str, ...]
    """The first of them."""
    count: int
    share: float
    """Of the values that the optimizers hold."""
    held: int
    """Parameters that the optimizers hold."""
    steps: int
    """Updates since, all without them."""
    frame: Frame | None = None
    """The line that called the model in that evaluation."""
    frozen_by: Frame | None = None
    """The only line of the program that freezes."""
    by_train: Frame | None = None
    """The `def train` of a module that makes this line run: the part was to be frozen before the first update."""

    def key(self) -> object:
        """Identify the frozen parameters."""
        return self.params
