"""The seed audit as a value."""

from __future__ import annotations

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.seeds import SeedRow, Seeds
from tests.checks.windows import LOADER, ref


def test_the_table_survives_the_disk_and_only_the_last_ones_count():
    table = Seeds(
        ref=ref(),
        rows=(SeedRow(source="torch", seeded=True, value=2**40, frame=LOADER, calls=2, risk="x"),),
        shared=("dataset.a", "dataset.b"),
    )
    assert from_plain("seeds/Seeds", to_plain(table)) == table
    assert Seeds.KEEP == 2
