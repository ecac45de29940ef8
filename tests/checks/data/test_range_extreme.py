"""Values far outside of what was seen."""

from __future__ import annotations

from debugtracer.checks.data.range_extreme import RangeExtreme
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.stored_rows import FarValue, StoredLeaf, StoredRows
from tests.checks.data.batches import a_window, an_oddity, at


def test_a_value_beyond_the_range_is_a_note_with_its_sample():
    (finding,) = RangeExtreme().judge(
        a_window(an_oddity("range", 77, value=4.1e6, usual=3.9, spread=7.6, rows=(8,), samples=(1240,)))
    )
    assert finding.message == (
        "step 77, rank 0: batch[0] of batch 77 of Corpus (train.py:50) reaches 4.1e+06 (sample 1240); 77 batches "
        "before stayed below 3.9, a range of 7.6; "
        "expected values within 10 ranges. Look at the sample."
    )
    assert (finding.severity, finding.place.sample_index) == ("note", (1240,))


def test_below_is_said_the_other_way_round():
    (finding,) = RangeExtreme().judge(a_window(an_oddity("range", value=-1e5, usual=-3.0, spread=7.6)))
    assert "stayed above -3" in finding.message


def test_other_oddities_are_not_its_business():
    assert not list(RangeExtreme().judge(a_window(an_oddity("content"))))


def test_a_code_in_stored_rows_is_a_note_with_its_row_said_once():
    far = FarValue(value=-9999.0, rows=(7, 90), count=2, column=3, low=0.1, high=0.4)
    made = Frame("/p/read.py", 12)
    leaf = StoredLeaf(path="input", name="heat", whole=False, far=(far,), made=(made,))
    fact = StoredRows(ref=at(1), length=640, rows=16, looks=2, in_order=True, same=False, leaves=(leaf,))
    memories = {}
    (finding,) = RangeExtreme().judge(a_window(fact, memories=memories))
    assert finding.message == (
        "step 1, rank 0: heat, column 3, reaches -9999 (rows 7, 90 of 640); all others lie from 0.1 to 0.4; expected "
        "values within 10 ranges. Look at the row: it may hold a code for a missing value."
    )
    assert (finding.severity, finding.place.frame, finding.place.sample_index) == ("note", made, (7, 90))
    assert not list(RangeExtreme().judge(a_window(fact, memories=memories)))
