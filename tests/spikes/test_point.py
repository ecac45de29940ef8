"""The threshold of the point alarm."""

from __future__ import annotations

import pytest

from debugtracer.spikes.point import CAP, LEAST_Z, MARGIN, MEMORY, YOUNG, YOUNG_MARGIN, PointAlarm


def known(*zs: float) -> PointAlarm:
    """An alarm that has seen a whole young run, then these."""
    alarm = PointAlarm()
    for step in range(YOUNG):
        alarm.learn(step, 0.0)
    for z in zs:
        alarm.learn(YOUNG, z)
    return alarm


def test_a_young_run_has_not_shown_its_tail():
    assert PointAlarm().threshold(0) == LEAST_Z * YOUNG_MARGIN
    assert known().threshold(YOUNG) == LEAST_Z


def test_it_learns_the_tail_of_the_run():
    assert known(7.0).threshold(YOUNG) == pytest.approx(MARGIN * 7.0)


def test_it_forgets():
    assert known(7.0).threshold(YOUNG + MEMORY + 1) == LEAST_Z


def test_one_giant_does_not_blind_us():
    assert known(500.0).threshold(YOUNG) == CAP
    assert known(500.0, 400.0).threshold(YOUNG) == CAP


def test_three_giants_are_how_the_run_is():
    assert known(50.0, 40.0, 30.0).threshold(YOUNG) == pytest.approx(MARGIN * 30.0)
