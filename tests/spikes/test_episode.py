"""The class of an alarm."""

from __future__ import annotations

import math

import pytest

from debugtracer.spikes.episode import SETTLE, Episode
from debugtracer.spikes.residual import Residual
from tests.spikes.series import ref

MAD = 0.1


def episode(heights: list[float], sudden: bool = True, threshold: float = 6.0) -> Episode:
    """An alarm at expectation 1.0 whose values lie `heights` MAD above it, pushed until it settles."""
    first = Residual(math.exp(MAD * heights[0]), MAD * heights[0], 0.0, MAD, heights[0], 0.0, 0.0)
    made = Episode(ref(500), first, threshold, sudden)
    for height in heights:
        made.push(math.exp(MAD * height), 500 + len(made.values))
        if made.settle():
            break
    return made


@pytest.mark.parametrize(
    ("heights", "shape"),
    [
        ([30.0] + [0.5] * 40, "spike"),
        ([30.0] * 5 + [0.5] * 40, "spike"),
        ([30.0] * 40, "step change"),
        ([30.0] + [10.0] * 40, "step change"),
        ([8.0 + 1.0 * i for i in range(40)], "divergence"),
        ([30.0 * 0.9**i for i in range(40)], "spike"),
    ],
)
def test_a_class_for_each_shape(heights, shape):
    assert episode(heights).shape == shape


def test_a_level_that_creeps_up_without_an_outlier_is_drift():
    assert episode([4.0] * 40, sudden=False).shape == "drift"


def test_it_settles_early_when_calm_and_at_33_values_otherwise():
    assert len(episode([30.0] + [0.0] * 40).values) == 17
    assert len(episode([30.0] * 40).values) == SETTLE + 1


def test_back_from_one_step_to_the_next_is_abrupt():
    assert episode([40.0, 35.0, 30.0, 0.5] + [0.5] * 40).abrupt
    assert episode([40.0, 35.0, 30.0, 0.5] + [0.5] * 40).bad_steps == 3
    assert not episode([30.0 * 0.85**i for i in range(40)]).abrupt


def test_a_suspicion_is_refuted_or_proven_by_the_next_eight():
    fine, high = episode([4.0] + [0.0] * 8, sudden=False), episode([4.0] * 9, sudden=False)
    assert fine.refuted() and not fine.proven()
    assert high.proven() and not high.refuted()


def test_strong_asks_for_more_where_values_are_negative():
    first = Residual(1.0, 1.0, 0.0, MAD, 10.0, 0.5, 0.0)
    signed = Episode(ref(3), first, 6.0, True, above=[15.0], values=[1.0])
    assert not signed.strong
    signed.above.append(25.0)
    assert signed.strong
