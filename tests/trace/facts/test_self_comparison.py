"""A term that compares a value with itself."""

from __future__ import annotations

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.self_comparison import SelfComparison
from debugtracer.trace.step import StepRef


def test_it_comes_back_as_it_was_and_counts_by_line_and_step():
    fact = SelfComparison(ref=StepRef(iteration=3, step=3), function="kl_div", shape=(2, 3), frame=None, sum_frame=None)
    assert from_plain(SelfComparison.word(), to_plain(fact)) == fact
    assert fact.key() == (None, 3)
