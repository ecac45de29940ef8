"""Interleaved rows as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.interleaved_rows import InterleavedRows
from tests.checks.windows import LOADER, ref


def test_it_survives_json_and_is_told_by_its_lines():
    fact = InterleavedRows(
        ref=ref(2), rows=12, length=24, dim=1, tokens=864, along=0.4, across=31.0, joined=60, joins=69, expected=9.5,
        frame=LOADER,
    )  # fmt: skip
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact
    assert fact.key() == (LOADER, None)
