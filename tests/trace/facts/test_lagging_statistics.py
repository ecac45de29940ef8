"""Running statistics that lag behind, as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.lagging_statistics import LaggingStatistics
from tests.checks.windows import LOADER, ref


def test_it_survives_json():
    fact = LaggingStatistics(
        ref=ref(), module="body.1", frame=LOADER, norms=2, momentum=0.001, batches=300, kept=0.74, mean_gap=0.1,
        variance_ratio=0.11,
    )  # fmt: skip
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact
