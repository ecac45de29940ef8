"""A map that belongs to its picture turned, as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.turned_target import TurnedTarget
from debugtracer.trace.step import StepRef


def a_turn(**other):
    given = {"how": "transposed", "turned": 0.7, "present": 0.0, "height": 32, "width": 32} | other
    return TurnedTarget(ref=StepRef(iteration=1, step=1), **given)


def test_it_survives_json():
    fact = a_turn()
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact


def test_a_loss_is_told_once():
    assert a_turn().key() == a_turn(turned=0.9).key() != a_turn(how="turned by half").key()
