"""The batch norms of a step as a value."""

from __future__ import annotations

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.norm_batch import NormBatch
from debugtracer.trace.step import StepRef


def test_it_survives_json():
    fact = NormBatch(ref=StepRef(iteration=0, step=0), look=0, values=2, shape=(2, 32), modules=("1",))
    assert from_plain(fact.word(), to_plain(fact)) == fact
