"""A series of few values far apart."""

from __future__ import annotations

import math
import random

import pytest

from debugtracer.spikes.sparse import Departure, Sparse
from debugtracer.trace.step import StepRef

DIVERGED = [2.0 - 0.6 * i / 38 for i in range(39)] + [6.0 + 14 * i / 19 for i in range(20)]


def departure(values: list[float], every: int = 500, rates: list[float] | None = None) -> Departure | None:
    series = Sparse()
    for n, value in enumerate(values):
        step = every * (n + 1)
        series.push(StepRef(iteration=step, step=step), value, rates[n] if rates else None)
    return series.departure(3.0)


def healthy(seed: int) -> list[float]:
    """A power law, a plateau after an exponential, or cosine restarts; 8 to 60 rows with noise up to 15 %."""
    chance = random.Random(seed)
    count, start, floor = chance.randint(8, 60), chance.uniform(1, 10), chance.choice([0.0, 0.3, 2.0])
    power, period = chance.uniform(0.2, 1.2), chance.randint(5, 20)
    shapes = (
        [floor + start * (n + 1) ** -power for n in range(count)],
        [floor + 0.1 + start * math.exp(-n / 5) for n in range(count)],
        [
            (floor + start * (n + 1) ** -power)
            * (1 + 0.3 * (n >= period) * math.cos(math.pi * (n % period) / period / 2))
            for n in range(count)
        ],
    )
    noise = chance.uniform(0, 0.15)
    return [value * (1 + noise * chance.gauss(0, 1)) for value in shapes[seed % 3]]


def test_a_loss_that_left_its_best_for_good_names_both_ends():
    gone = departure(DIVERGED)
    assert gone is not None
    assert (gone.best_ref.step, gone.left_ref.step) == (19_000, 20_000)
    assert (gone.best, gone.now) == (pytest.approx(1.416, abs=1e-3), pytest.approx(19.26, abs=1e-2))


def test_a_healthy_curve_of_few_rows_is_silent():
    assert [seed for seed in range(300) if departure(healthy(seed)) is not None] == []


def test_a_dense_series_is_forgotten():
    assert departure(DIVERGED, every=1) is None
    assert departure(DIVERGED, every=9) is None
    assert departure(DIVERGED, every=10) is not None


@pytest.mark.parametrize(("count", "gone"), [(7, False), (8, True)])
def test_it_takes_eight_values(count, gone):
    assert (departure([1.0, 0.9, 0.8, 6.0, 7.0, 8.0, 9.0, 10.0][:count]) is not None) is gone


def test_a_spike_that_heals_and_a_bump_that_is_worked_off_are_silent():
    falling = [2.0 / (1 + 0.1 * n) for n in range(40)]
    assert departure([*falling, 9.0, 9.0, 9.0, *(0.4,) * 6]) is None
    assert departure([*falling, *(2.5 * 0.9**n for n in range(20))]) is None


@pytest.mark.parametrize(("times", "gone"), [(1.4, False), (1.7, True)])
def test_at_the_threshold_below_the_start_it_takes_half_as_much_again_as_the_best(times, gone):
    falling = [3.0 / (1 + 0.2 * n) for n in range(40)]
    assert (departure([*falling, *(times * falling[-1],) * 8]) is not None) is gone


def test_a_learning_rate_that_begins_anew_explains_a_rise_below_the_start():
    values = [3.0 / (1 + 0.2 * n) for n in range(40)]
    rates = [1e-3 * (1 - n / 41) for n in range(40)]
    assert departure([*values, *(2 * values[-1],) * 6], rates=[*rates, *[1e-3] * 6]) is None
    assert departure([*values, *(2 * values[-1],) * 6], rates=[*rates, *[1e-5] * 6]) is not None
