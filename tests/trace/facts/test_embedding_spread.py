"""The spread of embeddings as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.embedding_spread import EmbeddingSpread
from debugtracer.trace.facts.fact import from_plain, to_plain
from tests.checks.windows import LOADER, ref


def test_it_survives_json_and_is_told_by_its_line():
    fact = EmbeddingSpread(ref=ref(0), root="Voice", frame=LOADER, calls=2, rows=16, apart=0.5, size=1.0)
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact
    assert fact.key() == ("Voice", LOADER)
