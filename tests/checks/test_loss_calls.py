"""Calls of losses, by the line that made them."""

from __future__ import annotations

from debugtracer.checks.loss_calls import by_line
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.loss_call import LossCall
from tests.checks.data.batches import a_window, at


def a_call(step: int, line: int) -> LossCall:
    return LossCall(ref=at(step), loss="cross_entropy", frame=Frame("/home/someone/train.py", line, "main", "f(x)"))


def test_calls_of_one_line_stand_together_in_their_order():
    first, other, second = a_call(0, 3), a_call(0, 9), a_call(1, 3)
    assert list(by_line(a_window(first, other, second)).values()) == [[first, second], [other]]
    assert by_line(a_window()) == {}
