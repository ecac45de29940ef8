"""Misread axes as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.misread_axes import MisreadAxes
from tests.checks.facts_at import line, ref


def misread(**more):
    given = {"root": "Net", "shape": (64, 3, 32, 32), "read": (3, 32, 32), "sizes": (32, 32, 3)}
    return MisreadAxes(ref=ref(1), present=0.2, restored=0.94, call_frame=line(40), **(given | more))


def test_it_survives_json():
    fact = misread(frame=line(14), made=(line(9), line(14)))
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact


def test_another_shape_is_news():
    assert misread().key() == misread(frame=line(3)).key() != misread(shape=(64, 3, 16, 16)).key()
