"""A length that counts something else."""

from __future__ import annotations

from debugtracer.checks.data.rows_beyond_length import RowsBeyondLength
from debugtracer.trace.facts.row_reach import RowReach
from debugtracer.trace.window import Window
from tests.checks.windows import LOADER, ref


def judged(reach, counts=True, came=1):
    fact = RowReach(ref=ref(4), loader=0, dataset="Hives", length=36, reach=reach, counts=counts, frame=LOADER)
    return list(RowsBeyondLength().judge(Window(ref=fact.ref, facts={RowReach: (fact,)}, came={RowReach: came})))


def test_it_fires_on_windows_counted_as_files():
    (finding,) = judged(1080)
    assert (finding.severity, finding.kind) == ("warning", "data_rows_left_out")
    assert "Hives has length 36" in finding.message
    assert "samples 36..1079 are never drawn" in finding.message


def test_a_length_that_was_given_is_a_note():
    assert [f.severity for f in judged(1080, counts=False)] == ["note"]


def test_at_the_threshold_and_once():
    assert judged(72) == []
    assert len(judged(73)) == 1
    assert judged(1080, came=0) == []
