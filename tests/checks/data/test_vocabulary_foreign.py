"""Vocabularies that do not know the training data."""

from __future__ import annotations

import pytest

from debugtracer.checks.data.vocabulary_foreign import VocabularyForeign
from debugtracer.diagnosis.judging.judge import Judge
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.unknown_ids import UnknownIds
from debugtracer.trace.step import StepRef

VOCABULARY = Frame("/p/train.py", 58)


def look(step, *unknown, **more):
    known = {
        "name": "Ledger.guilds",
        "entries": 142,
        "columns": tuple(f"batch[{2 * n}]" for n in range(len(unknown))),
        "rows": 64,
        "frame": VOCABULARY,
        "made": Frame("/p/train.py", 44),
        **more,
    }
    return UnknownIds(ref=StepRef(iteration=step, step=step), unknown=unknown, **known)


def judged(*looks):
    check = VocabularyForeign()
    judge = Judge({check.slug: check})
    return [finding for fact in looks for finding in judge.judge(fact.ref, {}, [fact])]


def test_two_columns_of_unknown_ids_are_told_at_the_second_look_once():
    (finding,) = judged(look(0, 31, 35), look(1, 30, 33), look(2, 31, 35))
    assert finding.message == (
        "step 1, rank 0: id 142, which none of the 142 entries of Ledger.guilds (train.py:58) has, stands in 30 and 33 "
        "of 64 rows of batch[0] and batch[2] (made at train.py:44); expected a few: all of them share one row of the "
        "table. Make the vocabulary of the data that are trained on."
    )
    assert (finding.severity, finding.kind, finding.place.frame) == ("warning", "tokenizer_mismatch", VOCABULARY)


@pytest.mark.parametrize(
    "looks",
    [
        [look(0, 60), look(1, 60)],  # one column: a field that may be empty
        [look(0, 31, 35)],  # one look
        [look(0, 25, 40), look(1, 25, 40)],  # 39 % of one column
        [look(0, 31, 35), look(1, 31, 35, name="Ledger.wares")],  # another vocabulary
    ],
    ids=["a field", "a look", "rare", "another"],
)
def test_what_may_be_meant_is_silent(looks):
    assert judged(*looks) == []


def test_the_share_is_of_each_column():
    assert len(judged(look(0, 26, 40), look(1, 26, 40))) == 1


def test_without_its_line_the_ids_lead():
    (finding,) = judged(*(look(step, 31, 35, frame=None) for step in range(2)))
    assert finding.place.frame == Frame("/p/train.py", 44)
    assert "entries of Ledger.guilds has," in finding.message
