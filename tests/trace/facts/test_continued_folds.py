"""Folds of one network, as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.continued_folds import ContinuedFolds
from debugtracer.trace.facts.fact import from_plain, to_plain
from tests.checks.facts_at import line, ref


def a_fact(**other):
    given = {
        "fold": 2,
        "model": "Net",
        "shared": 160,
        "rows": 160,
        "current": 0,
        "frame": line(34),
        "train_frame": line(33),
        "built": line(24),
        "samples": (3, 17),
    } | other
    return ContinuedFolds(ref=ref(25), **given)


def test_it_survives_json():
    fact = a_fact()
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact


def test_it_is_told_by_what_it_is_about():
    assert a_fact().key() == a_fact(fold=3).key() != a_fact(frame=line(35)).key()
