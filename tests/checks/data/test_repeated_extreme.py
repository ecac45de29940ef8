"""Codes for missing values that are kept as numbers."""

from __future__ import annotations

import pytest

from debugtracer.checks.data.repeated_extreme import RepeatedExtreme
from debugtracer.trace.facts.batch_content import LoaderNote
from debugtracer.trace.facts.repeated_extreme import RepeatedExtreme as Seen
from tests.checks.facts_at import judged, line, ref


def fact(**fields):
    usual = {
        "ref": ref(20), "loader": LoaderNote(number=0, dataset="Hours", frame=line(30)), "path": "batch[0]",
        "column": 1, "value": 9999.0, "low": 0.4, "high": 2.5, "rows": 9, "of": 640, "batches": 8, "looked": 20,
        "again": True, "handled": False, "samples": (3, 4, 5, 6, 7, 8, 9, 11, 12), "made": (line(19),),
    }  # fmt: skip
    return Seen(**(usual | fields))


def test_a_code_is_told_once_with_its_column_and_samples():
    (finding,) = judged(RepeatedExtreme(), [fact(), fact(looked=40)])
    assert (finding.severity, finding.kind) == ("warning", "data_range_extreme")
    assert (finding.place.frame, finding.place.sample_index) == (line(19), (3, 4, 5, 6, 7, 8, 9, 11, 12))
    assert finding.message == (
        "step 20, rank 0: column 1 of batch[0] of Hours, made at train.py:19 is 9999 in 9 of 640 rows (samples 3, 4, "
        "5, 6, 7, 8 and 3 more), the same number in 8 batches, where all others lie from 0.4 to 2.5; expected measured "
        "values. It looks like a code for a missing value: fill it before the column is scaled."
    )


def test_numbers_of_rows_have_no_column_and_samples_may_be_unknown():
    (finding,) = judged(RepeatedExtreme(), [fact(column=None, samples=(), made=())])
    assert "step 20, rank 0: batch[0] of Hours is 9999 in 9 of 640 rows, the same" in finding.message
    assert (finding.place.frame, finding.place.sample_index) == (line(30), None)


@pytest.mark.parametrize(
    "fields",
    [{"handled": True}, {"again": False}, {"batches": 2}, {"samples": (3, 4, 5)}, {"rows": 400, "of": 640}],
)
def test_it_stays_silent(fields):
    assert judged(RepeatedExtreme(), [fact(**fields)]) == []
