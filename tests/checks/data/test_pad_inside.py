"""Padding that is a word."""

from __future__ import annotations

import pytest

from debugtracer.checks.data.pad_inside import PadInside
from debugtracer.trace.facts.pad_inside import PadInside as Look
from tests.checks.optimizer.seen import at, found, line

SEEN = {
    "root": "Encoder", "module": "embed", "pad": 0, "rows": 64, "inside": 41, "ends": 60, "columns": 12,
    "frame": line(43),
}  # fmt: skip


def judged(**more):
    return found(PadInside(), [Look(ref=at(step), **{**SEEN, **more}) for step in range(3)])


def test_a_word_with_the_id_of_the_padding_is_told_once():
    (finding,) = judged()
    assert (finding.severity, finding.kind, finding.place.frame) == ("warning", "tokenizer_mismatch", line(43))
    assert finding.message == (
        "step 1, rank 0: id 0, the padding index of embed of Encoder (train.py:43), stands between other ids in 41 of "
        "64 texts, and fills the end of 60; expected it at an end alone. Begin the ids of words above it."
    )


@pytest.mark.parametrize("healthy", [{"inside": 6}, {"columns": 2}, {"ends": 0}])
def test_a_stray_id_an_empty_field_and_no_padding_are_silent(healthy):
    assert judged(**healthy) == []


def test_a_word_that_a_mask_leaves_out_is_told_at_the_vocabulary():
    (finding,) = judged(masked=True, root="", module="", spelt="the", frame=line(8), mask_frame=line(21))
    assert (finding.place.frame, finding.place.symptom_frame, finding.place.module) == (line(8), line(21), None)
    assert finding.message == (
        "step 1, rank 0: id 0, which a mask (train.py:21) leaves out and which is that of 'the' (train.py:8), stands "
        "between other ids in 41 of 64 texts, and fills the end of 60; expected it at an end alone. Begin the ids of "
        "words above it."
    )
