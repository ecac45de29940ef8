"""Values far outside of what was seen."""

from __future__ import annotations

from debugtracer.checks.data.range_extreme import RangeExtreme
from tests.checks.data.batches import a_window, an_oddity


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
