"""Batches with few rows."""

from __future__ import annotations

from debugtracer.checks.data.short_batch import ShortBatch
from tests.checks.data.batches import a_window, an_oddity


def test_a_short_batch_is_a_note():
    (finding,) = ShortBatch().judge(a_window(an_oddity("short", 31, value=3.0, usual=16.0)))
    assert finding.message == (
        "step 31, rank 0: batch 31 of Corpus (train.py:50) has 3 rows, usual are 16; expected at least 8. Look at what "
        "collate_fn leaves out."
    )
    assert finding.severity == "note"


def test_half_of_the_rows_are_enough():
    assert not list(ShortBatch().judge(a_window(an_oddity("short", value=8.0, usual=16.0))))


def test_other_oddities_are_not_its_business():
    assert not list(ShortBatch().judge(a_window(an_oddity("range", value=3.0, usual=16.0))))
    assert len(list(ShortBatch().judge(a_window(an_oddity("short", value=7.0, usual=16.0))))) == 1
