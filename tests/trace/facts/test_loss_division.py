"""Losses that were divided twice."""

from __future__ import annotations

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.loss_division import LossDivision
from debugtracer.trace.step import StepRef


def test_it_comes_back_as_it_was_and_counts_by_line_and_step():
    fact = LossDivision(ref=StepRef(iteration=3, step=3), backwards=4, library="accelerate", frame=None)
    assert from_plain(LossDivision.word(), to_plain(fact)) == fact
    assert fact.key() == (None, 3)
