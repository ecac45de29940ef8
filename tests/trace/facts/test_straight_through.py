"""A straight-through sum as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.straight_through import StraightThrough
from tests.checks.windows import LOADER, ref


def test_it_survives_json_and_is_told_by_its_line():
    fact = StraightThrough(ref=ref(2), how="detached", shape=(8, 2), module="Codes", frame=LOADER)
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact
    assert fact.key() == (LOADER, 2)
