"""Half-precision sums as values."""

from __future__ import annotations

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.half_reduction import HalfReduction, RunningTotal
from debugtracer.trace.step import StepRef

REF = StepRef(iteration=0, step=0)


def test_an_infinite_result_survives_json():
    fact = HalfReduction(
        ref=REF, op="sum", dtype="float16", elements=5000, value="Infinity", wide=7e4, error=0.0, overflows=1
    )
    assert from_plain(fact.word(), to_plain(fact)) == fact
    assert fact.key() == ("sum", None)


def test_a_total_is_one_line():
    fact = RunningTotal(ref=REF, dtype="bfloat16", adds=1, before=1.0, added=1.0, after=2.0, wide=2.0)
    assert from_plain(fact.word(), to_plain(fact)) == fact
    assert fact.key() is None
