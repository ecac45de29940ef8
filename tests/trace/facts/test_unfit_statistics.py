"""Statistics that do not fit, as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.unfit_statistics import UnfitStatistics
from tests.checks.facts_at import line, ref


def a_fact(**other):
    given = {
        "kind": "Net",
        "how": "averaged",
        "norms": 2,
        "module": "norm",
        "off": 0.7,
        "trained": 0.02,
        "frame": line(43),
    } | other
    return UnfitStatistics(ref=ref(25), **given)


def test_it_survives_json():
    fact = a_fact()
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact


def test_it_is_told_by_what_it_is_about():
    assert a_fact().key() == a_fact(off=0.9).key() != a_fact(frame=line(44)).key()
