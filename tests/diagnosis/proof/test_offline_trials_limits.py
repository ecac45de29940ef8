"""When a capsule is healed, and when its loss is another than the one that was recorded."""

from __future__ import annotations

import math

import pytest

from debugtracer.diagnosis.proof.offline_trials import heals, is_scaled
from debugtracer.replay.trials.score import Score

USUAL = {"loss": [1.0, -2.0, 1.5, math.nan]}


@pytest.mark.parametrize(
    ("loss", "grad_l2", "recent", "healed"),
    [
        (1.0, None, USUAL, True),
        (20.0, None, USUAL, True),
        (20.1, None, USUAL, False),
        (-20.1, None, USUAL, False),
        (20.1, 1.0, USUAL, True),
        (99.0, None, {"loss": [1.0, 2.0, math.inf]}, True),
        (99.0, None, {"loss": [1.0, 2.0, 3.0]}, False),
        (None, None, USUAL, True),
    ],
)
def test_a_loss_far_outside_of_the_last_ones_heals_nothing_where_no_gradient_tells(loss, grad_l2, recent, healed):
    assert heals(Score(loss=loss, grad_l2=grad_l2), recent) is healed


@pytest.mark.parametrize(
    ("loss", "recorded", "scaled"),
    [
        (21.0, 20.0, False),
        (21.1, 20.0, True),
        (1.89, 2.0, True),
        (-2.0, 2.0, True),
        (None, 2.0, False),
        (2.1, None, False),
        (math.nan, 2.0, False),
        (2.0, math.inf, False),
        (math.inf, 2.0, False),
        (0.0, 0.0, False),
        (1e-12, 0.0, True),
    ],
)
def test_a_loss_that_differs_by_more_than_a_twentieth_was_multiplied(loss, recorded, scaled):
    assert is_scaled(Score(loss=loss), recorded) is scaled
