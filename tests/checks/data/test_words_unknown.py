"""Vocabularies that do not know the words of the training data."""

from __future__ import annotations

import pytest

from debugtracer.checks.data.words_unknown import WordsUnknown
from debugtracer.diagnosis.judging.judge import Judge
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.unknown_words import UnknownWords
from debugtracer.trace.step import StepRef

VOCABULARY, TABLE, IDS = Frame("/p/train.py", 8), Frame("/p/model.py", 9), Frame("/p/data.py", 5)


def look(step, words, unknown, shared=None, **more):
    known = {
        "name": "vocab", "entries": 94, "spelt": "<unk>", "number": 1, "frame": VOCABULARY, "read_frame": TABLE,
        "columns": tuple(f"batch[{n}]" for n in range(len(words))), "written": IDS,
        "shared": shared or tuple(a - b for a, b in zip(words, unknown, strict=True)), **more,
    }  # fmt: skip
    return UnknownWords(ref=StepRef(iteration=step, step=step), words=words, unknown=unknown, **known)


def judged(*looks):
    check = WordsUnknown()
    judge = Judge({check.slug: check})
    return [finding for fact in looks for finding in judge.judge(fact.ref, {}, [fact])]


def test_most_words_unknown_is_told_at_the_third_look_once():
    (finding,) = judged(*(look(at, (200,), (150,)) for at in range(6)))
    assert finding.message == (
        "step 2, rank 0: `<unk>` (id 1 of 94 in vocab, train.py:8) is 75 % of 600 words of batch[0], in 3 looks; "
        "expected a few in a hundred. Make the vocabulary of the texts that are trained on, and look words up in its "
        "spelling."
    )
    assert (finding.severity, finding.kind, finding.place.frame) == ("warning", "tokenizer_mismatch", VOCABULARY)


def test_one_side_of_a_pair():
    (finding,) = judged(*(look(at, (200, 120), (0, 12)) for at in range(3)))
    assert finding.message == (
        "step 2, rank 0: `<unk>` (id 1 of 94 in vocab, train.py:8) is 10 % of 360 words of batch[1], and none of 600 "
        "words of batch[0], in 3 looks; expected one vocabulary of both. Make it of both texts."
    )
    assert finding.place.frame == VOCABULARY


def test_where_nothing_is_known_the_line_of_the_ids_is_named():
    (finding,) = judged(*(look(at, (200,), (200,)) for at in range(3)))
    assert finding.message.endswith("Look words up in the spelling in which the vocabulary has them (data.py:5).")
    assert finding.place.frame == IDS


@pytest.mark.parametrize(
    "looks",
    [
        [look(at, (200,), (99,)) for at in range(6)],  # fewer than half
        [look(at, (200,), (150,)) for at in range(2)],  # two looks
        [look(at, (99,), (90,)) for at in range(3)],  # few words
        [look(at, (200, 120), (1, 30)) for at in range(3)],  # rare words are left out on both sides
        [look(at, (200, 120), (0, 30), (200, 60)) for at in range(3)],  # the second text has other words
        [look(at, (200, 120), (0, 11)) for at in range(3)],  # nine in a hundred
    ],
)
def test_what_is_quiet(looks):
    assert not judged(*looks)
