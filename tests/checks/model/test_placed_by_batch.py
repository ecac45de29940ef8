"""Which dimension gets the positions?"""

from __future__ import annotations

import pytest

from debugtracer.checks.model.placed_by_batch import PlacedByBatch
from debugtracer.trace.facts.placed_rows import PlacedRows
from tests.checks.facts_at import judged, line, ref


def looks(count: int = 2, **more: object) -> list[PlacedRows]:
    given = {"shape": (32, 24, 48), "added": (32, 1, 48), "stored": 500, "name": "places.table", "frame": line(22)}
    return [PlacedRows(ref=ref(step + 1), **(given | more)) for step in range(count)]  # type: ignore[arg-type]


def test_a_table_along_the_batch_is_told():
    (finding,) = judged(PlacedByBatch(), looks(3))
    assert finding.message == (
        "step 1, rank 0: x + table (train.py:22) adds (32, 1, 48), the first of 500 vectors, to (32, 24, 48), whose "
        "first dimension is the batch: each sample gets a vector by its place, and its 24 positions the same one; "
        "expected one for each position. Add table[:24] as (1, 24, 48)."
    )
    assert (finding.severity, finding.kind, finding.place.frame) == ("warning", "axes_mixed", line(22))


def test_a_table_without_a_name():
    (finding,) = judged(PlacedByBatch(), looks(name=""))
    assert "x + a stored table (train.py:22)" in finding.message


@pytest.mark.parametrize("given", [looks(1), looks(1) * 3])
def test_one_look_is_no_proof(given):
    assert not judged(PlacedByBatch(), given, ended=True)
