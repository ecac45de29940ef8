"""Oscillations."""

from __future__ import annotations

import random

import pytest

from debugtracer.spikes.swing import Swing, Swings, flips, lag1


def swings(values: list[float]) -> list[Swing]:
    seen = Swings()
    return [swing for swing in map(seen.push, values) if swing is not None]


def test_growing_alternation_is_one():
    values = [1.0 + (-1) ** step * 0.01 * 1.02**step for step in range(200)]
    first = swings(values)[0]
    assert first.flips > 0.85
    assert first.mad > 2 * first.before


def test_alternation_of_constant_size_is_how_the_loop_is():
    assert swings([1.0 + (-1) ** step * 0.3 for step in range(300)]) == []


def test_wider_noise_without_alternation_is_none():
    chance = random.Random(4)
    assert swings([2.0 + chance.gauss(0, 0.01 * 1.01**step) for step in range(300)]) == []


def test_rounding_flicker_is_none():
    assert swings([1.0 + (-1) ** step * 1e-7 * 1.02**step for step in range(300)]) == []


def test_the_measures_of_an_alternation():
    assert flips([1.0, -1.0, 1.0, -1.0]) == 1.0
    assert lag1([1.0, -1.0] * 50) == pytest.approx(-0.99)
    assert lag1([0.0, 0.0]) == 0.0
