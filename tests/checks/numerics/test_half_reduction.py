"""Sums in half precision beside the same in float32."""

from __future__ import annotations

import pytest

from debugtracer.checks.numerics.half_reduction import HalfReduction
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.facts.half_reduction import HalfReduction as Reduced
from debugtracer.trace.facts.half_reduction import RunningTotal
from debugtracer.trace.finding import Finding
from debugtracer.trace.step import StepRef
from debugtracer.trace.window import Window

LINE = Frame(file="train.py", line=26, function="main", code="total += loss")


def a_call(step: int = 0, **more: object) -> Reduced:
    known = {
        "op": "logsumexp",
        "frame": LINE,
        "dtype": "float16",
        "elements": 100_000,
        "value": 11.3,
        "wide": 11.5,
        "error": 0.0174,
    }
    return Reduced(ref=StepRef(iteration=step, step=step), **{**known, **more})


def a_total(step: int, **more: object) -> RunningTotal:
    known = {
        "frame": LINE,
        "dtype": "bfloat16",
        "adds": 1,
        "before": 512.0,
        "added": 1.2,
        "after": 512.0,
        "wide": 513.2,
    }
    return RunningTotal(ref=StepRef(iteration=step, step=step), **{**known, **more})


def judged(*facts: Fact) -> list[Finding]:
    found: list[Finding] = []
    memories: dict[str, dict[object, object]] = {}
    for fact in facts:
        window = Window(ref=fact.ref, facts={type(fact): [fact]}, came={type(fact): 1}, memories=memories)
        found += HalfReduction().judge(window)
    return found


def test_fires_on_a_reduction_that_is_off():
    (finding,) = judged(a_call())
    assert (finding.severity, finding.kind, finding.place.op) == ("note", "half_accumulation", "aten::logsumexp")
    assert finding.message == (
        "step 0, rank 0: logsumexp over 100000 values (float16) is 11.3, off by 1.7%; expected 11.5 as in float32. Add "
        "up in float32."
    )


def test_an_overflow_is_told_as_one():
    (finding,) = judged(
        a_call(value="Infinity", error=0.0, overflows=1), a_call(100, value="Infinity", error=0.0, overflows=1)
    )
    assert "(float16) overflows to Infinity; expected 11.5 as in float32" in finding.message


def test_fires_on_a_total_that_stands_still():
    (finding,) = judged(a_total(100, before=301.0, after=302.0), a_total(200), a_total(300), a_total(400))
    assert finding.message == (
        "step 300, rank 0: `total += loss` (bfloat16) stands still at 512 since step 200: 1.2 is added and nothing "
        "changes; expected it to grow. "
        "Add up in float32, e.g. total += loss.item()."
    )


def test_fires_on_many_additions_of_one_step():
    (finding,) = judged(a_total(0, adds=4000, before=0.0, after=2048.0, wide=4000.0))
    assert "is 2048 after 4000 additions, off by 48.8%; expected 4000 as in float32" in finding.message


@pytest.mark.parametrize(
    "totals",
    [
        (a_total(0), a_total(1), a_total(2)),  # the first steps are not apart
        (a_total(100), a_total(200, before=514.0, after=514.0)),  # it moved in between
        (a_total(100), a_total(105, before=600.0, after=600.0), a_total(110)),  # it moved there and back
        (a_total(100), a_total(105, before=508.0), a_total(110)),  # it moved to the same value again
        (a_total(100, added=0.0), a_total(200, added=0.0)),  # nothing was added
        (a_total(100, graph=True), a_total(200, graph=True)),  # a loss and a tiny second term
        (a_total(0, adds=3, before=1.0, after=1.0, wide=1.5),),  # few additions
    ],
)
def test_stays_silent_on_totals_that_are_right_or_unknown(totals):
    assert judged(*totals) == []


def test_at_the_threshold():
    assert judged(a_call(error=0.01)) == []
    assert len(judged(a_call(error=0.0101))) == 1
    assert judged(a_total(100), a_total(109)) == []
    assert len(judged(a_total(100), a_total(110))) == 1
