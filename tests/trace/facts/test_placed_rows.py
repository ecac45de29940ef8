"""Vectors that are added by the place in the batch, as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.placed_rows import PlacedRows
from tests.checks.windows import LOADER, ref


def test_it_survives_json_and_each_look_is_news():
    fact = PlacedRows(ref=ref(1), shape=(32, 24, 48), added=(32, 1, 48), stored=500, frame=LOADER)
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact
    assert fact.key() == (LOADER, 1)
