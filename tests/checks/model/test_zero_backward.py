"""Backwards that pass nothing on."""

from __future__ import annotations

from typing import Any

from debugtracer.checks.model.zero_backward import ZeroBackward
from debugtracer.trace.facts.zero_backward import ZeroBackward as Fact
from tests.checks.optimizer.seen import at, found, line

STEPS = (0, 1, 2, 3, 64, 65)


def look(step: int, **more: Any) -> Fact:
    given = {
        "ref": at(step), "function": "Reverse", "frame": line(16), "zero": True, "reverses": True, "values": 128,
        "factor": "alpha", "made": line(66),
    }  # fmt: skip
    return Fact(**{**given, **more})


def test_it_is_said_at_the_end_at_the_line_of_the_factor():
    (finding,) = found(ZeroBackward(), [look(step) for step in STEPS], ended=True)
    assert (finding.severity, finding.kind, finding.step) == ("warning", "detached_graph", 0)
    assert (finding.place.frame, finding.place.symptom_frame) == (line(66), line(16))
    assert finding.message == (
        "step 0, rank 0: backward of Reverse (train.py:16) is to turn its gradient round and gave exactly 0 in 6 of 6 "
        "looks at steps 0..65, and 128 values that were not all 0 came in; its alpha (train.py:66) is 0; expected a "
        "factor that leaves 0. Print it."
    )


def test_nothing_is_said_before_the_end():
    assert found(ZeroBackward(), [look(step) for step in STEPS]) == []


def test_one_look_that_passed_something_on_is_silent():
    assert found(ZeroBackward(), [*map(look, STEPS), look(96, zero=False, reverses=False)], ended=True) == []


def test_a_short_run_is_silent():
    assert found(ZeroBackward(), [look(step) for step in (0, 1, 2, 3, 4, 6)], ended=True) == []
    assert found(ZeroBackward(), [look(step) for step in (0, 64, 65)], ended=True) == []


def test_zeros_that_may_be_meant_are_a_note_at_the_backward():
    (finding,) = found(ZeroBackward(), [look(s, reverses=False, factor="") for s in STEPS], ended=True)
    assert (finding.severity, finding.place.frame) == ("note", line(16))
    assert "backward of Reverse (train.py:16) gave exactly 0" in finding.message
