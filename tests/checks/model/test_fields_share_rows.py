"""Fields without offsets."""

from __future__ import annotations

import pytest

from debugtracer.checks.model.fields_share_rows import FieldsShareRows
from debugtracer.trace.facts.field_ids import FieldIds
from tests.checks.optimizer.seen import at, found, line

SEEN = {
    "root": "Factors", "table": "linear", "size": 149, "fields": (12, 40, 90, 7), "least": 0, "rows": 4096,
    "frame": line(29),
}  # fmt: skip


def judged(*more):
    return found(FieldsShareRows(), [FieldIds(ref=at(63), **{**SEEN, **one}) for one in more or ({},)])


def test_fields_that_begin_at_the_first_row():
    (finding,) = judged()
    assert (finding.severity, finding.kind, finding.place.frame) == ("warning", "fields_share_rows", line(29))
    assert finding.message == (
        "step 63, rank 0: Factors looks up 4 columns with ids up to 11, 39, 89, 6 in linear (train.py:29) as they are: "
        "all share its first rows, and rows 90 to 148 of 149, which they fill together, are never read; expected rows "
        "of its own for each. Add the offsets of the fields (of the ids seen 0, 12, 52, 142)."
    )


def test_a_model_is_told_of_once_and_many_fields_are_cut():
    (finding,) = judged({}, {"table": "factors"})
    assert "in linear" in finding.message
    (finding,) = judged({"fields": (3,) * 9 + (9,), "size": 36})
    assert "10 columns with ids up to 2, 2, 2, 2, 2, 2 ... in linear" in finding.message


@pytest.mark.parametrize(
    "healthy",
    [
        {"fields": (149, 140, 149, 120)},  # tokens
        {"size": 90},  # one vocabulary
        {"size": 1000},  # made for more
        {"fields": (70, 70), "size": 140},  # positions of two like tokens
        {"least": 30},  # offsets were added before
        {"fields": (2, 140), "size": 149},  # hardly anything is unread
    ],
)
def test_one_vocabulary_is_silent(healthy):
    assert judged(healthy) == []


def test_offsets_that_are_not_cumulative():
    seen = {"table": "body", "size": 700, "fields": (200, 200, 300), "offsets": (0, 200, 200)}
    (finding,) = judged(seen, {**seen, "table": "head"})
    assert (finding.severity, finding.kind, finding.place.module) == ("warning", "fields_share_rows", "body")
    assert finding.message == (
        "step 63, rank 0: Factors looks up 3 columns in body (train.py:29) with 0, 200, 200 added to them, so that "
        "columns 1 and 2 read rows 200 to 399 and 200 to 499 and share 200 of 700, though the table has rows for all; "
        "expected rows of its own for each. Add the sum of the sizes of the fields before (of the ids seen 0, 200, "
        "400)."
    )


def test_offsets_are_told_at_the_line_that_made_them():
    (finding,) = judged({"size": 700, "fields": (200, 200, 300), "offsets": (0, 200, 200), "made": line(21)})
    assert "(train.py:29) with 0, 200, 200 added to them, made at train.py:21, so that columns" in finding.message
    assert (finding.place.frame, finding.place.symptom_frame) == (line(21), line(29))


@pytest.mark.parametrize(
    "healthy",
    [
        {"size": 700, "fields": (200, 200, 300), "offsets": (0, 200, 400)},
        {"size": 500, "fields": (200, 200, 300), "offsets": (0, 0, 200)},  # two that share rows on purpose
        {"size": 1010, "fields": (2, 2, 1000), "offsets": (0, 0, 2)},  # the same, with rows that are not read yet
        {"size": 700, "fields": (201, 201, 290), "offsets": (0, 200, 400)},  # a row in common
    ],
)
def test_offsets_that_keep_fields_apart_are_silent(healthy):
    assert judged(healthy) == []
