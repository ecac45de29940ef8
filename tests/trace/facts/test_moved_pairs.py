"""Pairs that moved, as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.moved_pairs import MovedPairs
from tests.checks.facts_at import line, ref


def a_fact(**other):
    given = {
        "data": "Rows",
        "moved": "inputs",
        "rows": 512,
        "changed": 381,
        "known": 512,
        "first": 0,
        "drawn": False,
        "frame": line(41),
        "loader_frame": line(30),
    } | other
    return MovedPairs(ref=ref(25), **given)


def test_it_survives_json():
    fact = a_fact()
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact


def test_it_is_told_by_what_it_is_about():
    assert a_fact().key() == a_fact(rows=600).key() != a_fact(data="Other").key()
