"""An evaluation that hands out the targets, as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.evaluated_targets import EvaluatedTargets
from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.step import StepRef


def evaluated(**other):
    given = {"root": "Outlook", "argument": "ahead", "runs": 12, "used": 5, "numbers": True} | other
    return EvaluatedTargets(ref=StepRef(iteration=3, step=3), **given)


def test_it_survives_json():
    fact = evaluated()
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact


def test_a_model_is_told_once():
    assert evaluated().key() == evaluated(used=12).key() != evaluated(argument="y").key()
