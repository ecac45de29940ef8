"""Evaluations that were standardised by their own statistics."""

from __future__ import annotations

import msgspec
import pytest

from debugtracer.checks.data.own_scaled import OwnScaled
from debugtracer.trace.facts.batch_content import LeafProfile
from debugtracer.trace.facts.own_scale import OwnScale
from tests.checks.data.batches import LOADER, a_profile, a_window, at
from tests.checks.optimizer.seen import line

LEAF = LeafProfile(path="batch[0]", role="float", mean=0.0, std=1.0)
OTHER = msgspec.structs.replace(LOADER, number=LOADER.number + 1)


def scale(number, rows=400, stored=2, columns=8, of=8, path="batch[0]"):
    return OwnScale(
        ref=at(0), number=number, path=path, rows=rows, columns=columns, of=of, stored=stored, frame=line(25),
        made=line(15),
    )  # fmt: skip


def judged(*scales, training=False, evaluated="batch[0]"):
    profile = a_profile(LEAF, loader=OTHER, training=training, evaluated=evaluated)
    return list(OwnScaled().judge(a_window(*scales, a_profile(LEAF), profile)))


OURS = scale(LOADER.number, rows=1600, stored=1)


def test_two_tables_that_were_scaled_apart_are_told():
    (finding,) = judged(OURS, scale(OTHER.number))
    assert (finding.severity, finding.kind) == ("warning", "data_unnormalised")
    assert (finding.place.frame, finding.place.symptom_frame) == (line(25), line(15))
    assert (
        "the 400 rows that the evaluation is given as batch[0] (train.py:25) have mean 0 and deviation 1 to rounding "
        "in 8 of 8 columns, and so have the 1600 of training; expected means that are off by about 0.05. Scale them "
        "with the statistics of training: scaler.transform, not fit_transform."
    ) in finding.message


@pytest.mark.parametrize(
    "theirs",
    [
        scale(OTHER.number, stored=1),
        scale(OTHER.number, columns=1),
        scale(OTHER.number, columns=7),
        scale(OTHER.number, path="batch[1]"),
    ],
    ids=["one-table", "one-column", "other-columns", "other-tensor"],
)
def test_what_is_not_the_same_scaling_is_silent(theirs):
    assert judged(OURS, theirs) == []


def test_at_the_threshold():
    ours = scale(LOADER.number, stored=1, columns=2)
    assert len(judged(ours, scale(OTHER.number, columns=2))) == 1


def test_a_training_that_was_not_scaled_so_or_two_trainings_are_silent():
    assert judged(scale(OTHER.number)) == []
    assert judged(OURS, scale(OTHER.number), training=True) == []
    assert judged(OURS, scale(OTHER.number), evaluated="") == []
