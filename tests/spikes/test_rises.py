"""The rises that a series has shown to be its own."""

from __future__ import annotations

import pytest

from debugtracer.spikes.rises import Rises


def test_three_rises_set_the_mark_and_two_do_not():
    rises = Rises()
    for step, rise in ((1, 2.0), (5, 4.0)):
        rises.learn(step, rise)
    assert rises.usual(6) == 0.0
    rises.learn(7, 3.0)
    assert rises.usual(8) == pytest.approx(1.3 * 2.0)
    rises.learn(9, 5.0)
    assert rises.usual(10) == pytest.approx(1.3 * 3.0)


def test_small_rises_and_falls_are_not_kept_and_old_ones_are_forgotten():
    rises = Rises()
    for step in range(3):
        rises.learn(step, 4.0)
    for step in range(3, 200):
        rises.learn(step, 1.0)
        rises.learn(step, -9.0)
    assert len(rises.known) == 3
    assert rises.usual(400) == pytest.approx(1.3 * 4.0)
    assert rises.usual(503) == 0.0
