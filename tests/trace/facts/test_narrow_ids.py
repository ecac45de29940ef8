"""Narrow ids: each table is a matter of its own."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.narrow_ids import NarrowIds
from tests.checks.optimizer.seen import at


def test_its_key_tells_tables_apart():
    fact = NarrowIds(
        ref=at(1), table="words", size=400, dtype="uint8", limit=255, source="train.bin", ids=900, largest=255, top=1.0,
        below=1.0,
    )  # fmt: skip
    assert msgspec.structs.replace(fact, table="other").key() != fact.key()
    assert msgspec.structs.replace(fact, ids=901).key() == fact.key()
