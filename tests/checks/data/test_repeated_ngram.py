"""Phrases over and over."""

from __future__ import annotations

from debugtracer.checks.data.repeated_ngram import RepeatedNgram
from tests.checks.data.batches import a_window, an_oddity


def test_a_row_of_one_phrase_is_a_note_with_its_sample():
    (finding,) = RepeatedNgram().judge(
        a_window(an_oddity("ngram", 40, value=1.0, count=3, of=96, rows=(1,), samples=(641,)))
    )
    assert finding.message == (
        "step 40, rank 0: an n-gram of 3 tokens fills 100 % of a row of batch[0] of batch 40 of Corpus (train.py:50) "
        "(sample 641); expected text. "
        "Look at the sample, or mask it."
    )
    assert finding.severity == "note"


def test_a_small_part_of_a_row_is_silent():
    assert not list(RepeatedNgram().judge(a_window(an_oddity("ngram", value=0.29, count=1))))
    assert list(RepeatedNgram().judge(a_window(an_oddity("ngram", value=0.3, count=1))))
