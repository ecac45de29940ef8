"""Rows of an evaluation, as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.evaluated_rows import EvaluatedRows
from debugtracer.trace.facts.fact import from_plain, to_plain
from tests.checks.facts_at import line, ref


def a_fact(**other):
    given = {
        "length": 400,
        "trained": 200,
        "rows": 200,
        "shared": 96,
        "frame": line(41),
        "train_frame": line(32),
        "made": (line(15),),
    } | other
    return EvaluatedRows(ref=ref(25), **given)


def test_it_survives_json():
    fact = a_fact()
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact


def test_it_is_told_by_what_it_is_about():
    assert a_fact().key() == a_fact(shared=90).key() != a_fact(frame=line(42)).key()
