"""Data of the evaluation in another unit than those of training."""

from __future__ import annotations

import msgspec
import pytest

from debugtracer.checks.data.eval_scale import EvalScale
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.batch_content import LeafProfile
from debugtracer.trace.facts.first_input import FirstInput
from debugtracer.trace.number import as_float
from tests.checks.data.batches import LOADER, a_profile, a_window, at

NORMED = LeafProfile(path="batch[0]", role="float", mean=0.0, std=1.0, low=-1.3, high=2.2)
RAW = LeafProfile(path="batch[0]", role="float", mean=0.3, std=0.23, low=0.0, high=0.81)
OTHER = msgspec.structs.replace(LOADER, number=LOADER.number + 1)


def given(mean=0.0, std=1.0):
    return FirstInput(
        ref=at(0), root="Net", function="conv2d", shape=(8, 1, 9, 9), mean=mean, std=std, low=-1.3, high=2.2,
        whole=False,
    )  # fmt: skip


def judged(tested, *, evaluated="batch[0]", first=None):
    profile = a_profile(tested, loader=OTHER, training=False, evaluated=evaluated)
    return list(EvalScale().judge(a_window(first or given(), a_profile(NORMED), profile)))


def test_the_same_values_in_another_unit_are_told():
    (finding,) = judged(RAW)
    assert (finding.severity, finding.kind) == ("warning", "data_unnormalised")
    assert "with mean 0.3 and std 0.23 (0..0.81)" in finding.message
    assert "with mean 0 and std 1 (-1.3..2.2); expected one scale: training's is about" in finding.message


@pytest.mark.parametrize(
    "tested",
    [
        NORMED,
        LeafProfile(path="batch[0]", role="float", mean=0.4, std=1.4, low=-1.4, high=3.5),  # other data of one scale
        LeafProfile(path="batch[0]", role="float", mean=0.3, std=0.23, low=0.0, high=5.0),  # another kind of values
        LeafProfile(path="batch[1]", role="float", mean=0.3, std=0.23, low=0.0, high=0.81),
    ],
)
def test_other_data_are_silent(tested):
    assert judged(tested) == []


def test_a_program_that_scales_on_the_way_is_silent():
    assert judged(RAW, evaluated="") == []
    assert judged(RAW, first=given(mean=5.0, std=9.0)) == []


SHIFTED = LeafProfile(path="batch[0]", role="float", mean=-0.68, std=1.66, low=-4.0, high=3.69)
SCAN = LeafProfile(path="batch[0]", role="float", mean=0.513, std=0.109, low=0.069, high=1.0)


def widened(tested, trained=SHIFTED):
    made = Frame("/home/someone/train.py", 12)
    loader = msgspec.structs.replace(OTHER, transform_at=made)
    profile = a_profile(tested, loader=loader, training=False, evaluated="batch[0]")
    first = given(mean=as_float(trained.mean), std=as_float(trained.std))
    return list(EvalScale().judge(a_window(first, a_profile(trained), profile)))


def test_training_that_augmentation_has_widened_is_told_with_its_constants_at_the_transform():
    (finding,) = widened(SCAN)
    assert "training's is about (x - 0.553) / 0.121. Apply the transform" in finding.message
    assert (finding.place.frame.line, finding.place.symptom_frame) == (12, OTHER.frame)


@pytest.mark.parametrize(
    "tested",
    [
        LeafProfile(path="batch[0]", role="float", mean=-0.1, std=1.0, low=-2.0, high=2.2),  # a crop in the middle
        LeafProfile(path="batch[0]", role="float", mean=-1.5, std=0.2, low=-2.0, high=0.4),  # a quieter part of it
        LeafProfile(path="batch[0]", role="float", mean=0.5, std=0.03, low=0.069, high=1.0),  # narrow, with outliers
        LeafProfile(path="batch[0]", role="float", mean=0.513, std=0.3, low=0.069, high=1.0),  # wider than training
    ],
)
def test_a_narrower_evaluation_of_one_unit_is_silent(tested):
    assert widened(tested) == []


def test_a_series_that_drifts_is_silent():
    trained = LeafProfile(path="batch[0]", role="float", mean=-0.03, std=0.961, low=-2.68, high=2.52)
    held = LeafProfile(path="batch[0]", role="float", mean=1.66, std=0.788, low=-0.252, high=3.7)
    assert widened(held, trained) == []


WIDE = LeafProfile(path="batch[0]", role="float", mean=0.0, std=1.0, low=-3.0, high=3.0)
EVEN = LeafProfile(path="batch[0]", role="float", mean=0.0, std=1.0, low=-2.0, high=2.0)


def leaf(mean, std, low, high):
    return LeafProfile(path="batch[0]", role="float", mean=mean, std=std, low=low, high=high)


@pytest.mark.parametrize(
    ("trained", "tested", "is_told"),
    [
        # deviations that are twice or half of each other: another unit
        (EVEN, leaf(0.0, 0.5, -1.0, 1.0), True),
        (EVEN, leaf(0.0, 0.51, -1.02, 1.02), False),
        (EVEN, leaf(0.0, 2.0, -4.0, 4.0), True),
        (EVEN, leaf(0.0, 1.99, -3.98, 3.98), False),
        # one deviation, and means that are three of them apart
        (EVEN, leaf(3.0, 1.0, 1.0, 5.0), True),
        (EVEN, leaf(2.99, 1.0, 0.99, 4.99), False),
        # normalised ends that differ by a quarter
        (EVEN, leaf(0.0, 0.5, -1.25, 1.25), True),
        (EVEN, leaf(0.0, 0.5, -1.26, 1.25), False),
        (EVEN, leaf(0.0, 0.5, -1.25, 1.26), False),
        # ends that are unlike, and ranges that are three times or a third of each other
        (WIDE, leaf(0.0, 0.2, -1.0, 1.0), True),
        (WIDE, leaf(0.0, 0.2, -1.01, 1.01), False),
        (WIDE, leaf(0.0, 2.0, -9.0, 9.0), True),
        (WIDE, leaf(0.0, 2.0, -8.9, 8.9), False),
        # the mean must come to lie within a quarter of a deviation
        (WIDE, leaf(0.0625, 0.15, -0.75, 0.75), True),
        (WIDE, leaf(0.0626, 0.15, -0.75, 0.75), False),
        # augmentation makes training twice as wide at most
        (WIDE, leaf(0.0, 0.125, -0.75, 0.75), True),
        (WIDE, leaf(0.0, 0.124, -0.75, 0.75), False),
        # values that do not vary have no scale
        (leaf(0.0, 0.0, 0.0, 0.0), RAW, False),
        (WIDE, leaf(0.5, 0.0, 0.5, 0.5), False),
        (WIDE, leaf(0.5, 0.1, 0.5, 0.5), False),
    ],
)
def test_each_limit_just_at_it_and_beside_it(trained, tested, is_told):
    assert bool(widened(tested, trained)) is is_told


def test_a_loader_is_told_once_and_one_that_trains_is_no_evaluation():
    profile = a_profile(RAW, loader=OTHER, training=False, evaluated="batch[0]")
    window = a_window(given(), a_profile(NORMED), profile)
    assert [len(list(EvalScale().judge(window))) for _ in range(2)] == [1, 0]
    both = a_profile(RAW, loader=OTHER, training=True, evaluated="batch[0]")
    assert list(EvalScale().judge(a_window(given(), a_profile(NORMED), both))) == []


def test_the_constant_is_added_where_it_lies_below_zero():
    (finding,) = widened(leaf(-0.5, 0.25, -1.0, 0.0), leaf(0.0, 1.0, -2.0, 2.0))
    assert "training's is about (x + 0.5) / 0.25." in finding.message
