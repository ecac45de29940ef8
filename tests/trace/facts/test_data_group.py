"""A group of ranks as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.data_group import DataGroup
from debugtracer.trace.facts.fact import from_plain, to_plain
from tests.checks.windows import ref


def test_it_survives_json_and_is_told_by_what_it_is_about():
    fact = DataGroup(ref=ref(0), how="fully_shard", group=(0, 1))
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact
    assert fact.key() == ("fully_shard", (0, 1))
