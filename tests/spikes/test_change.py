"""Bayesian change points on residuals."""

from __future__ import annotations

import random

from debugtracer.spikes.change import DOUBT, LONGEST, ChangePoint


def noise(count: int, seed: int = 0) -> list[float]:
    chance = random.Random(seed)
    return [1.4826 * chance.gauss(0, 1) for _ in range(count)]


def first_doubt(values: list[float]) -> int | None:
    change = ChangePoint()
    return next((step for step, z in enumerate(values) if change.push(z).probability > DOUBT), None)


def test_noise_is_a_suspicion_less_than_once_in_a_thousand_steps():
    assert sum(first_doubt(noise(1000, seed)) is not None for seed in range(10)) <= 5


def test_a_new_level_is_found_within_eight_steps():
    values = noise(300)
    values[200:] = [z + 4.0 for z in values[200:]]
    found = first_doubt(values)
    assert found is not None
    assert 200 <= found < 208


def test_one_outlier_is_no_change():
    values = noise(300)
    values[200] = 1e6
    assert first_doubt(values) is None


def test_the_level_says_up_or_down():
    change = ChangePoint()
    for z in noise(100):
        change.push(z)
    found = [change.push(-4.0) for _ in range(6)]
    assert min(one.level for one in found if one.probability > DOUBT) < -2.0


def test_the_work_of_a_step_is_bounded():
    change = ChangePoint()
    for z in noise(2000):
        change.push(z)
        assert len(change.runs) <= LONGEST
    assert abs(sum(p for p, _, _ in change.runs) - 1.0) < 1e-3
