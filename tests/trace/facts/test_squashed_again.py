"""A squashing function of a squashed value."""

from __future__ import annotations

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.squashed_again import SquashedAgain
from debugtracer.trace.step import StepRef


def test_it_comes_back_as_it_was_and_counts_by_line_and_step():
    ref = StepRef(iteration=3, step=3)
    fact = SquashedAgain(ref=ref, inner="sigmoid", outer="sigmoid", frame=None, inner_frame=None)
    assert from_plain(SquashedAgain.word(), to_plain(fact)) == fact
    assert fact.key() == (None, 3)
