"""Overlaps of scores, and overlaps that are made smaller."""

from __future__ import annotations

from debugtracer.checks.model.overlap_misread import OverlapMisread
from debugtracer.trace.facts.overlap_loss import OverlapLoss
from tests.checks.optimizer.seen import at, found, line


def seen(step: int, **more):
    return OverlapLoss(ref=at(step), shape=(32, 1, 24, 24), frame=line(18), product_frame=line(17), **more)


def test_scores_are_told_at_the_product():
    (finding,) = found(OverlapMisread(), [seen(step, layer="convolution") for step in range(3)])
    assert (finding.severity, finding.place.frame, finding.place.symptom_frame) == ("warning", line(17), line(18))
    assert finding.message == (
        "step 1, rank 0: the overlap in the loss (train.py:18) with a mask of shape (32, 1, 24, 24) is that of the "
        "output of a convolution (train.py:17), in 2 looks: scores of both signs; expected probabilities. Give it "
        "torch.sigmoid(scores)."
    )


def test_an_overlap_that_is_made_smaller_is_told_at_the_quotient():
    (finding,) = found(OverlapMisread(), [seen(step, falls=True) for step in range(3)])
    assert finding.place.frame == line(18)
    assert finding.message == (
        "step 1, rank 0: the loss grows with the overlap (train.py:18) of a prediction with a mask of shape "
        "(32, 1, 24, 24), in 2 looks: training makes the overlap smaller; expected one less the overlap. Subtract it "
        "from 1."
    )


def test_one_look_is_silent():
    assert found(OverlapMisread(), [seen(0, falls=True), seen(0, falls=True)]) == []
