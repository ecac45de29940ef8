"""Scores of rows with themselves."""

from __future__ import annotations

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.own_scores import OwnScores
from debugtracer.trace.step import StepRef


def test_it_comes_back_as_it_was_and_counts_by_line_and_step():
    ref = StepRef(iteration=3, step=3)
    fact = OwnScores(ref=ref, function="logsumexp", rows=8, share=0.5, frame=None, scores_frame=None)
    assert from_plain(OwnScores.word(), to_plain(fact)) == fact
    assert fact.key() == (None, 3)
