"""Lengths of a CTC loss, as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.ctc_call import CtcCall
from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.step import StepRef


def a_call(number=0):
    line = Frame(file="train.py", line=9, function="<module>", code="loss = ctc(a, y, n, m)")
    return CtcCall(
        ref=StepRef(iteration=0, step=0), number=number, rows=8, impossible=3, frames=40, longest=20,
        zero_infinity=True, frame=line,
    )  # fmt: skip


def test_it_survives_json():
    fact = a_call()
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact


def test_each_call_is_news():
    assert a_call(0).key() != a_call(1).key()
