"""A mask that is an index, as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.mask_index import MaskIndex
from tests.checks.windows import LOADER, ref


def test_it_survives_json_and_is_told_by_what_it_is_about():
    fact = MaskIndex(ref=ref(1), frame=LOADER, dtype="int64", rows=24, ones=8)
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact
    assert fact.key() == LOADER
