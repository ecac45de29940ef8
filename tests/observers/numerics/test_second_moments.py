"""Second moments of several parameters, measured together and each alone."""

from __future__ import annotations

import math

import pytest
import torch

from debugtracer.observers.numerics.second_moments import SecondMoment, measured


def moment(v, grad=(1.0, 2.0, 3.0, 4.0), eps=1e-8, beta2=0.99, step=3.0):
    return SecondMoment(torch.tensor(v), None if grad is None else torch.tensor(grad), eps, beta2, step)


ROWS = [
    moment([1.0, 4.0, 9.0, 16.0]),
    moment([0.0, 4.0, 0.0, 16.0]),
    moment([1e-20, 1e-20, 1.0, 1.0], eps=1e-5),
    moment([0.0] * 4),
    moment([1.0, 1.0, 1.0, 1.0], grad=(0.0, 0.0, 0.0, 5.0)),
    moment([2.0, 2.0, 2.0, 2.0], grad=None, step=0.0),
]


def test_together_they_say_what_each_says_alone():
    alone = [measured([one], 16)[0] for one in ROWS]
    assert measured(ROWS, 16) == alone


def test_only_touched_elements_count():
    whole, part, small, none, rare, plain = measured(ROWS, 16)
    right = 1 - 0.99**3
    assert whole["lag"] == pytest.approx(right, rel=1e-4)
    assert whole["rms"] == pytest.approx(right**0.5, rel=1e-4)
    assert part["least_v"] == pytest.approx(4.0 / right, rel=1e-4)
    assert part["log_v"] == pytest.approx((math.log(4) + math.log(16)) / 2, rel=1e-4)
    assert small["under_eps"] == 0.5
    assert none == {}
    assert "lag" not in rare and "rms" in rare
    assert plain == {"least_v": 2.0, "log_v": pytest.approx(math.log(2), rel=1e-4), "under_eps": 0.0, "beta2": 0.99}
