"""Batches and rows in which nothing counts."""

from __future__ import annotations

from debugtracer.checks.data.all_masked import AllMasked
from tests.checks.data.batches import a_window, an_oddity


def test_a_batch_of_ignored_labels_is_a_note_with_its_samples():
    (finding,) = AllMasked().judge(
        a_window(an_oddity("ignored", 14, value=-100.0, of=56, count=56, samples=tuple(range(112, 120))))
    )
    assert finding.message == (
        "step 14, rank 0: all 56 values of batch[0] of batch 14 of Corpus (train.py:50) are -100 (samples 112..119); "
        "expected some that count. "
        "Drop such samples."
    )
    assert finding.severity == "note"


def test_rows_of_padding_are_a_note():
    (finding,) = AllMasked().judge(a_window(an_oddity("empty", count=1, of=16, samples=(24,))))
    assert "1 of 16 rows of batch[0] of batch 8 of Corpus (train.py:50) are padding only (sample 24)" in finding.message


def test_rows_of_padding_are_told_once_and_every_batch_without_labels():
    check = AllMasked()
    window = a_window(an_oddity("empty", count=1, of=16), an_oddity("empty", count=2, of=16))
    assert len(list(check.judge(window))) == 1
    assert len(list(check.judge(a_window(an_oddity("ignored", 14), an_oddity("ignored", 15))))) == 2


def test_other_oddities_are_not_its_business():
    assert not list(AllMasked().judge(a_window(an_oddity("blank"))))
