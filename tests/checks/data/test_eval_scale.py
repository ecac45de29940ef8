"""Data of the evaluation in another unit than those of training."""

from __future__ import annotations

import msgspec
import pytest

from debugtracer.checks.data.eval_scale import EvalScale
from debugtracer.trace.facts.batch_content import LeafProfile
from debugtracer.trace.facts.first_input import FirstInput
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
    assert "with mean 0 and std 1 (-1.3..2.2); expected one scale" in finding.message


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
