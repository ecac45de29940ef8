"""A batch whose loss stands out, as a value."""

from __future__ import annotations

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.outlying_batch import OutlyingBatch
from debugtracer.trace.step import StepRef


def test_each_one_is_news_and_survives_the_disk():
    fact = OutlyingBatch(ref=StepRef(iteration=80, step=80), loss=6.99, indices=(3, 1), frame=None, backward=None)
    assert fact.key() == 80
    assert from_plain("outlying-batch/OutlyingBatch", to_plain(fact)) == fact
