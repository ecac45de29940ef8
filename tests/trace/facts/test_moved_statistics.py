"""Statistics of a frozen part that moved, as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.moved_statistics import MovedStatistics
from tests.checks.windows import LOADER, ref


def test_it_survives_json():
    fact = MovedStatistics(
        ref=ref(), root="Leaves", part="stem", whole=False, module="stem.1", norms=2, furthest="stem.5", gap=1.9,
        ratio=1.2, steps=240, frame=LOADER, on_root=True, frozen_by=LOADER, called_at=LOADER,
    )  # fmt: skip
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact
    assert fact.key() == ("Leaves", "stem.1")
