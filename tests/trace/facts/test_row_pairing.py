"""An order that restores a relation, as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.row_pairing import RowPairing
from debugtracer.trace.step import StepRef


def a_pairing(**other):
    given = {"order": "moved", "gain": 0.8, "present": -0.1, "rows": 400, "by": 7, "wrapped": 7} | other
    return RowPairing(ref=StepRef(iteration=0, step=0), **given)


def test_it_survives_json():
    fact = a_pairing()
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact


def test_the_data_of_a_loss_are_told_once():
    assert a_pairing().key() == a_pairing(rows=9).key() != a_pairing(order="grid").key()
