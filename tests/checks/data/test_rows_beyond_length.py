"""A length that counts something else."""

from __future__ import annotations

from debugtracer.checks.data.rows_beyond_length import RowsBeyondLength
from debugtracer.trace.birth import Frame
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


def test_an_index_list_that_nothing_reads_is_told_at_the_line_that_fetches_and_once():
    facts = [
        RowReach(
            ref=ref(4), loader=loader, dataset="Part", length=36, reach=60, counts=True, frame=LOADER, chosen="picks",
            fetch_frame=Frame("/home/someone/parts.py", 9),
        )
        for loader in range(2)
    ]  # fmt: skip
    (finding,) = RowsBeyondLength().judge(Window(ref=ref(4), facts={RowReach: facts}, came={RowReach: 2}))
    assert (finding.place.frame, finding.severity) == (Frame("/home/someone/parts.py", 9), "warning")
    assert "Part has the length of self.picks (train.py:20), 36 indices of rows, and __getitem__" in finding.message
    assert "(parts.py:9) never reads it: it gives the rows 0..35 of 60; expected those of" in finding.message
