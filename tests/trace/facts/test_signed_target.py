"""Targets of a loss that knows 1 and -1, as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.signed_target import SignedTarget
from debugtracer.trace.step import StepRef


def a_call(number=0):
    return SignedTarget(
        ref=StepRef(iteration=0, step=0), loss="soft_margin_loss", number=number, total=8, other=3, negative=0,
        low=0.0, high=1.0, frame=Frame(file="train.py", line=9, function="<module>", code="loss(a, y)"),
    )  # fmt: skip


def test_it_survives_json():
    fact = a_call()
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact


def test_each_call_is_news():
    assert a_call(0).key() != a_call(1).key()
