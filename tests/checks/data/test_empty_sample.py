"""Does every sample of a sequence model have at least one element?"""

from __future__ import annotations

import pytest

from debugtracer.checks.data.empty_sample import REFUSAL, EmptySample
from debugtracer.trace.facts.crash import IntegerRows
from tests.checks.crashes import LINE, LOADER, a_crash, told

LENGTHS = ((4, 4), (0, 0), (7, 7))


def test_the_sample_without_an_element_is_named_with_the_line_that_counted_it():
    rows = IntegerRows(name="lengths", values=LENGTHS, indices=(9, 14, 2), made=(LOADER,))
    (finding,) = told(EmptySample(), a_crash(REFUSAL, rows=rows))
    assert (finding.severity, finding.kind, finding.place.sample_index) == ("error", "ragged_samples", (14,))
    assert (finding.place.frame, finding.place.symptom_frame) == (LOADER, LINE)
    assert finding.message == (
        "step 5, rank 0: 1 of 3 lengths that pack_padded_sequence (train.py:34) was given is 0 (sample 14), made at "
        "train.py:27; expected at least 1. Leave out samples without an element, or give them a padding token."
    )


@pytest.mark.parametrize("rows", [None, IntegerRows(name="lengths", values=LENGTHS)])
def test_without_known_samples_none_is_named(rows):
    (finding,) = told(EmptySample(), a_crash(REFUSAL, rows=rows))
    assert finding.place.sample_index is None and finding.place.frame == LINE
    assert ("1 of 3 lengths" in finding.message) is (rows is not None)


def test_other_words_are_not_its_business():
    assert told(EmptySample(), a_crash("Expected `len(lengths)` to be equal to batch_size, but got 3")) == []
