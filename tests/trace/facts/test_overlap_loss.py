"""Overlaps in a loss."""

from __future__ import annotations

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.overlap_loss import OverlapLoss
from debugtracer.trace.step import StepRef


def test_it_comes_back_as_it_was_and_counts_by_line_and_step():
    fact = OverlapLoss(ref=StepRef(iteration=3, step=3), layer="linear", shape=(4, 1), frame=None)
    assert from_plain(OverlapLoss.word(), to_plain(fact)) == fact
    assert fact.key() == (None, 3)
