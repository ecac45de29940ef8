"""Stored rows that a fetch changes."""

from __future__ import annotations

from debugtracer.checks.data.fetch_writes import FetchWrites
from debugtracer.trace.facts.fetch_write import FetchWrite
from debugtracer.trace.window import Window
from tests.checks.windows import LOADER, ref


def judged(rows=1, came=1, frame=LOADER):
    fact = FetchWrite(
        ref=ref(4), loader=0, dataset="Bells", name="spectra", sample=12, once=0.0912, twice=0.124, rows=rows,
        frame=frame, loader_frame=LOADER,
    )  # fmt: skip
    return list(FetchWrites().judge(Window(ref=fact.ref, facts={FetchWrite: (fact,)}, came={FetchWrite: came})))


def test_it_is_a_proof_and_names_the_row_and_the_line():
    (finding,) = judged()
    assert (finding.severity, finding.kind, finding.exact) == ("warning", "data_overwritten", True)
    assert "Bells.__getitem__ writes into Bells.spectra (train.py:20): fetching sample 12" in finding.message
    assert "changed its stored row by 9.12 %, fetching it again by 12.4 % in all" in finding.message
    assert finding.place is not None and finding.place.frame == LOADER


def test_more_rows_are_counted_and_it_is_said_once():
    (finding,) = judged(rows=3)
    assert "its stored row and 2 more by" in finding.message
    assert judged(came=0) == []


def test_without_a_line_of_its_own_it_stands_at_the_loader():
    (finding,) = judged(frame=None)
    assert finding.place is not None and finding.place.frame == LOADER
