"""Lengths of other rows."""

from __future__ import annotations

import pytest

from debugtracer.checks.model.lengths_misaligned import LengthsMisaligned
from debugtracer.diagnosis.judging.judge import Judge
from tests.trace.facts.test_other_lengths import other


def judged(*looks):
    check = LengthsMisaligned()
    judge = Judge({check.slug: check})
    return [finding for fact in looks for finding in judge.judge(fact.ref, {}, [fact])]


def test_it_is_told_at_the_second_look_once():
    (finding,) = judged(other(0), other(1), other(2))
    assert finding.message == (
        "step 1, rank 0: pack_padded_sequence (model.py:9) is given the lengths 30, 29, 28 for rows that end at 16, "
        "22, 13, and 36 of 40 rows have the length of another one, in 2 looks; expected each row with its own. Put the "
        "rows in the order of the lengths, x = x[order], or pass them as they are with enforce_sorted=False."
    )
    assert (finding.severity, finding.kind, finding.place.frame.line) == ("warning", "targets_misaligned", 9)


@pytest.mark.parametrize(("differ", "told"), [(9, 0), (10, 1)])
def test_at_the_threshold(differ, told):
    assert len(judged(other(0, differ), other(1, differ))) == told


def test_one_look_is_not_enough():
    assert not judged(other(0))
