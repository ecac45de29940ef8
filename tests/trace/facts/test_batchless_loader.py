"""A loader without a batch, as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.batchless_loader import BatchlessLoader
from debugtracer.trace.facts.fact import from_plain, to_plain
from tests.checks.windows import LOADER, ref


def test_it_survives_json():
    fact = BatchlessLoader(ref=ref(1), dataset="Notes", rows=6, batch_size=8, frame=LOADER)
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact
