"""A loss that draws two outputs together."""

from __future__ import annotations

from debugtracer.trace.facts.compared_views import ComparedViews
from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.step import StepRef


def test_it_comes_back_as_it_was_and_counts_by_line_and_step():
    fact = ComparedViews(ref=StepRef(iteration=3, step=3), function="mse_loss", frame=None, rows=8, alike=0.5)
    assert from_plain(ComparedViews.word(), to_plain(fact)) == fact
    assert fact.key() == (None, 3)
