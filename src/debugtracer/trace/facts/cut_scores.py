"""Decisions of an evaluation that are made of scores as if they were probabilities, or of one column as if it were
many."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class CutScores(Fact, frozen=True, kw_only=True):
    """One line of an evaluation, seen in one step."""

    function: str
    """What decides: gt, round, argmax ..."""
    column: bool = False
    """It looks for the largest along a dimension of size 1."""
    squashes: str
    """What the outputs are given to in training: binary_cross_entropy_with_logits, sigmoid ..."""
    root: str
    """The class of the model whose output it is."""
    shape: tuple[int, ...]
    values: int
    between: int = 0
    """Values from 0 to 0.5: more likely than not, and decided otherwise."""
    frame: Frame | None
    """The line that decides."""
    train_frame: Frame | None
    """The line at which training squashes."""

    def key(self) -> object:
        """Identify the line and the step."""
        return self.frame, self.ref.step
