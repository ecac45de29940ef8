"""The gradients at the scores of a critic."""

from __future__ import annotations

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.score_push import ScorePush
from debugtracer.trace.step import StepRef


def test_it_comes_back_as_it_was_and_is_keyed_by_both_optimizers():
    fact = ScorePush(ref=StepRef(iteration=3, step=3), judge=1, maker=0, by_judge=True, number=2, made_up=0.25)
    assert from_plain(ScorePush.word(), to_plain(fact)) == fact
    assert fact.key() == (1, 0)
