"""Loaders that part."""

from __future__ import annotations

from debugtracer.checks.data.pairs_broken import PairsBroken
from debugtracer.trace.facts.paired_loaders import PairBroken
from tests.checks.windows import LOADER, ref, told


def judged(*facts):
    return list(PairsBroken().judge(told(*facts, step=25)))


def test_the_first_batch_that_differs():
    fact = PairBroken(
        ref=ref(25), frame=LOADER, other_frame=LOADER, equal=25, number=0, passes=1, rows=(7, 31), other_rows=(5, 77)
    )
    (finding,) = judged(fact)
    assert (finding.severity, finding.kind, finding.place.frame) == ("warning", "data_pairs_broken", LOADER)
    assert finding.message == (
        "step 25, rank 0: two loaders (train.py:20 and train.py:20) gave the same shuffled rows side by side in 25 "
        "batches, and in batch 0 of pass 1 rows 7, 31 beside rows 5, 77; expected the same rows. Put both into one "
        "dataset."
    )


def test_without_a_fact_it_is_silent():
    assert judged() == []
