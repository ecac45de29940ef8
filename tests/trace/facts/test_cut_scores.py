"""Decisions that are made of scores."""

from __future__ import annotations

from debugtracer.trace.facts.cut_scores import CutScores
from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.step import StepRef


def test_it_comes_back_as_it_was_and_counts_by_line_and_step():
    fact = CutScores(
        ref=StepRef(iteration=3, step=3), function="gt", squashes="sigmoid", root="Net", shape=(4, 1), values=4,
        frame=None, train_frame=None,
    )  # fmt: skip
    assert from_plain(CutScores.word(), to_plain(fact)) == fact
    assert fact.key() == (None, 3)
