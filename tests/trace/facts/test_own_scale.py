"""A table that was scaled by itself as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.own_scale import OwnScale
from tests.checks.windows import LOADER, ref


def test_it_survives_json_and_is_told_by_its_loader_and_its_path():
    fact = OwnScale(ref=ref(1), number=1, path="batch[0]", rows=400, columns=8, of=8, frame=LOADER)
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact
    assert fact.key() == (1, "batch[0]")
