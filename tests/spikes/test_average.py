"""A moving average and its signs."""

from __future__ import annotations

import random

from debugtracer.spikes.average import WARM_UP, Average


def pushed(values: list[float]) -> Average:
    average = Average()
    for value in values:
        average.push(value)
    return average


def test_noise_has_no_two_signs():
    chance = random.Random(5)
    average = Average()
    for _ in range(2000):
        average.push(abs(chance.gauss(1.0, 0.2)))
        assert len(average.signs(1.15, 3.0, 1.5, 5)) < 2


def test_doubling_every_few_steps_has_all_three():
    average = pushed([1.0 + 0.01 * (i % 7) for i in range(200)] + [2.5**i for i in range(1, 8)])
    assert len(average.signs(1.15, 3.0, 1.5, 5)) == 3


def test_it_is_fresh_only_after_the_warm_up():
    assert not pushed([1.0] * WARM_UP).fresh
    assert pushed([1.0] * (WARM_UP + 1)).fresh
