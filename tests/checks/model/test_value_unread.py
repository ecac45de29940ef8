"""Tensors that nobody reads."""

from __future__ import annotations

from typing import Any

from debugtracer.checks.model.value_unread import ValueUnread
from debugtracer.trace.facts.unread_value import UnreadValue
from tests.checks.optimizer.seen import at, found, line


def judged(how: str, **more: Any):
    fact = UnreadValue(ref=at(1), name="masked", frame=line(41), shape=(32, 12), how=how, **more)
    (finding,) = found(ValueUnread(), [fact])
    return finding


def test_the_line_that_reads_the_other_tensor_is_the_place():
    finding = judged("replaced", like="scores", like_frame=line(42), changed=0.31)
    assert (finding.severity, finding.kind) == ("warning", "result_discarded")
    assert (finding.place.frame, finding.place.symptom_frame) == (line(42), line(41))
    assert finding.message == (
        "step 1, rank 0: masked (train.py:41) is made of scores in each step and read nowhere: train.py:42 reads "
        "scores, of the same shape (32, 12), which has other values in 31 % of the places; expected masked. Read "
        "masked there, or delete the line."
    )


def test_what_is_kept_and_what_is_made_for_the_rows_are_told_at_their_line():
    kept, rows = judged("kept", like="x", changed=1.0), judged("rows", like="x")
    assert [f.severity for f in (kept, rows)] == ["warning", "warning"]
    assert [f.place.frame for f in (kept, rows)] == [line(41), line(41)]
    assert "keeps x, of shape (32, 12), which is replaced after it by values that differ in 100 %" in kept.message
    assert "is made anew in each step, as if for x, and read nowhere" in rows.message


def test_anything_else_is_a_note():
    finding = judged("other")
    assert finding.severity == "note"
    assert finding.message == (
        "step 1, rank 0: masked (train.py:41), of shape (32, 12), is made anew in each step and read nowhere; expected "
        "that it has an effect. Use masked, or delete the line."
    )
