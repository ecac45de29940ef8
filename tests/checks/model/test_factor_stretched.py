"""What is said of values that meet the last dimension."""

from __future__ import annotations

from typing import Any

from debugtracer.checks.model.factor_stretched import FactorStretched
from debugtracer.trace.facts.stretched_factors import StretchedFactors
from debugtracer.trace.finding import Finding
from debugtracer.trace.window import Window
from tests.trace.facts.test_stretched_factors import stretched


def judged(steps: int = 2, **more: Any) -> list[Finding]:
    check, memories, found = FactorStretched(), {}, []
    for step in range(steps):
        fact = stretched(step, **more)
        window = Window(fact.ref, facts={StretchedFactors: [fact]}, came={StretchedFactors: 1}, memories=memories)
        found += check.judge(window)
    return found


def test_it_fires_on_the_second_look_and_once():
    assert judged(1) == []
    (finding,) = judged(4)
    assert (
        "mul (noise.py:13) lines up 16 values, one for each row (randint at train.py:62), with the last dimension of "
        "(16, 1, 16, 16): each column gets the value of another row; expected the shape (16, 1, 1, 1). Use view(-1, 1, "
        "1, 1)." in finding.message
    )
    assert (finding.severity, finding.kind, finding.place.frame.line) == ("warning", "axes_mixed", 13)
    assert finding.place.symptom_frame.line == 33


def test_it_names_a_tensor_of_the_batch():
    (finding,) = judged(source="batch[1]", source_frame=None, shape=(8, 8))
    assert "lines up 8 values, one for each row (batch[1]), with the last dimension of (8, 8)" in finding.message
    assert "Use view(-1, 1)." in finding.message
