"""A damaged copy as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.damaged_copy import DamagedCopy
from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.step import StepRef


def a_copy(step=0, target="cuda:1"):
    return DamagedCopy(
        ref=StepRef(iteration=step, step=step), function="to", source="cuda:0", target=target, elements=8, different=8,
        zeros=7,
    )  # fmt: skip


def test_it_survives_json():
    fact = a_copy()
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact


def test_a_line_and_a_pair_of_devices_are_told_once():
    assert a_copy().key() == a_copy(9).key() != a_copy(target="cuda:2").key()
