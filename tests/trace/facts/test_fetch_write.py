"""What a fetch wrote, as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.fetch_write import FetchWrite
from tests.checks.windows import LOADER, ref


def test_it_survives_json_and_is_told_by_the_loader():
    fact = FetchWrite(
        ref=ref(1), loader=2, dataset="Bells", name="x", sample=4, once=0.1, twice=0.2, rows=1, frame=LOADER
    )
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact
    assert fact.key() == 2
