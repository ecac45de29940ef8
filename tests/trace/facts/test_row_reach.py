"""How far indices reach, as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.row_reach import RowReach
from tests.checks.windows import LOADER, ref


def test_it_survives_json_and_is_told_by_the_loader():
    fact = RowReach(ref=ref(1), loader=2, dataset="Hives", length=4, reach=40, counts=True, frame=LOADER)
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact
    assert fact.key() == 2
