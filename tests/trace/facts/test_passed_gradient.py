"""A gradient that is handed on, as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.passed_gradient import PassedGradient
from tests.checks.facts_at import line, ref


def a_fact(**other):
    given = {
        "function": "Reverse",
        "frame": line(18),
        "called": line(34),
        "ratio": 1.0,
        "numbers": 1,
        "unused": False,
        "from_zero": False,
        "branches": True,
    } | other
    return PassedGradient(ref=ref(25), **given)


def test_it_survives_json():
    fact = a_fact()
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact


def test_it_is_told_by_what_it_is_about():
    assert a_fact().key() == a_fact(ratio=2.0).key() != a_fact(function="Other").key()
