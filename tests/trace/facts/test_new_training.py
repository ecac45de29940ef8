"""The fact of another training."""

from __future__ import annotations

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.new_training import NewTraining
from debugtracer.trace.step import StepRef


def test_it_comes_back_from_the_journal():
    fact = NewTraining(ref=StepRef(iteration=9, step=9), why="load", before=9)
    assert from_plain(NewTraining.word(), to_plain(fact)) == fact
