"""Two optimizers that take turns, as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.turns_taken import TurnsTaken
from debugtracer.trace.step import StepRef


def a_turn(step):
    return TurnsTaken(
        ref=StepRef(iteration=step, step=step), optimizer="Adam", other="SGD", frame=Frame("train.py", 3, "main", "")
    )


def test_it_survives_json_and_is_told_once():
    fact = a_turn(2)
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact
    assert fact.key() == a_turn(9).key()
