"""Targets that a model reads at their own places."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.scored_givens import ScoredGivens
from debugtracer.trace.step import StepRef

LOSS = Frame("/p/train.py", 20, "step", "loss = criterion(scores, labels)")
LABELS = Frame("/p/train.py", 17, "step", "labels = ids.clone()")


def scored(step: int, same: int = 1309, hidden: int = 227, made: Frame | None = LABELS) -> ScoredGivens:
    """One look at a loss."""
    ref = StepRef(iteration=step, step=step)
    return ScoredGivens(ref=ref, places=1536, same=same, hidden=hidden, mask=59, frame=LOSS, made=made)


def test_each_look_is_a_fact_of_its_own() -> None:
    assert scored(1).key() != scored(2).key()
    assert scored(1).key() == scored(1, same=3).key()
