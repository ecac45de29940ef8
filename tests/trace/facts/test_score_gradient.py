"""The gradients at the scores of a critic."""

from __future__ import annotations

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.score_gradient import ScoreGradient
from debugtracer.trace.step import StepRef


def test_it_comes_back_as_it_was_and_is_keyed_by_both_optimizers():
    fact = ScoreGradient(
        ref=StepRef(iteration=3, step=3), critic=1, generator=0, by_critic=True, number=2, generated_raised=0.25
    )
    assert from_plain(ScoreGradient.word(), to_plain(fact)) == fact
    assert fact.key() == (1, 0)
