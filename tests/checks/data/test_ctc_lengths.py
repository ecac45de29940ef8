"""Input lengths of a CTC loss that are too short."""

from __future__ import annotations

import pytest

from debugtracer.checks.data.ctc_lengths import CtcLengths
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.ctc_call import CtcCall
from debugtracer.trace.step import StepRef
from debugtracer.trace.window import Window

MADE = Frame("/p/train.py", 24, "forward", "return lengths // 8")


def judged(calls, zero_infinity=True):
    facts = tuple(
        CtcCall(
            ref=StepRef(iteration=n, step=n), number=n, rows=100, impossible=impossible, frames=frames,
            longest=longest, zero_infinity=zero_infinity, frame=None, made=MADE,
        )
        for n, (impossible, frames, longest) in enumerate(calls)
    )  # fmt: skip
    return list(CtcLengths().judge(Window(ref=facts[-1].ref, facts={CtcCall: facts})))


def test_hidden_rows_are_told_with_the_line_of_the_lengths():
    (finding,) = judged([(40, 50, 50)] * 3)
    assert (finding.severity, finding.kind, finding.place.frame) == ("error", "ctc_infeasible", MADE)
    assert "120 of 300 rows" in finding.message and "no gradient" in finding.message


def test_lengths_by_another_factor_are_told_without_a_lost_row():
    (finding,) = judged([(0, 50, 25), (0, 62, 31), (0, 41, 21)], zero_infinity=False)
    assert "0.50 of the frames" in finding.message and "left out" in finding.message


@pytest.mark.parametrize(
    "calls",
    [
        [(3, 50, 50), (5, 62, 61), (4, 41, 41)],
        [(0, 50, 25), (0, 50, 31), (0, 50, 21)],
        [(0, 50, 25), (0, 50, 25), (0, 50, 25)],
        [(0, 48, 33), (0, 64, 50), (0, 32, 21)],
        [(40, 50, 50)] * 2,
    ],
    ids=["a few rows", "padded to one length", "one length", "padded to a multiple", "two calls"],
)
def test_it_stays_silent(calls):
    assert judged(calls) == []


def test_an_infinite_loss_is_told_by_others():
    assert judged([(40, 50, 50)] * 3, zero_infinity=False) == []


def test_at_the_thresholds():
    assert len(judged([(10, 50, 50)] * 3)) == 1
    assert judged([(10, 50, 50), (10, 50, 50), (9, 50, 50)]) == []
    assert len(judged([(0, 100, 75), (0, 120, 90), (0, 80, 60)])) == 1
    assert judged([(0, 100, 76), (0, 120, 91), (0, 80, 61)]) == []
