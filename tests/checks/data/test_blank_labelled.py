"""What is said of a blank that is a label, too."""

from __future__ import annotations

from typing import Any

from debugtracer.checks.data.blank_labelled import BlankLabelled
from debugtracer.trace.facts.ctc_call import CtcCall
from debugtracer.trace.step import StepRef
from tests.checks.optimizer.seen import found


def calls(count: int, **known: Any) -> list[CtcCall]:
    """Calls of one line with 20 of 32 rows that hold the blank."""
    given = {"rows": 32, "impossible": 0, "frames": 20, "longest": 20, "zero_infinity": False, "blanks": 20} | known
    return [CtcCall(ref=StepRef(iteration=n, step=n), number=n, frame=None, **given) for n in range(count)]


def test_three_calls_are_told_once() -> None:
    (finding,) = found(BlankLabelled(), calls(5))
    assert (finding.severity, finding.kind, finding.exact) == ("error", "ctc_infeasible", False)
    assert "60 of 96 rows of ctc_loss have the blank, 0, among their targets, in 3 calls" in finding.message


def test_two_calls_and_labels_without_it_are_not_told() -> None:
    assert not found(BlankLabelled(), calls(2))
    assert not found(BlankLabelled(), calls(5, blanks=0))
