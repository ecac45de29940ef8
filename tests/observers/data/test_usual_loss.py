"""Losses that leave all bounds."""

from __future__ import annotations

from debugtracer.observers.data.usual_loss import FEWEST, PAST, TIMES, UsualLoss


def left(losses):
    usual = UsualLoss()
    return [at for at, loss in enumerate(losses) if usual.left_by(loss) is not None]


def test_a_loss_far_above_the_usual_is_told_with_that_and_not_learnt():
    usual = UsualLoss()
    assert [usual.left_by(loss) for loss in (10.0, 9.0, 8.0, 7.0, 5e14, 6.0, 5e14)] == [
        None, None, None, None, 8.5, None, 8.5,
    ]  # fmt: skip


def test_the_limits():
    start = [4.0] * FEWEST
    assert left([*start, 4.0 * TIMES]) == []
    assert left([*start, 4.0 * TIMES + 1]) == [FEWEST]
    assert left([*start[1:], 4.0 * TIMES + 1]) == []


def test_a_loss_that_is_met_is_measured_by_the_first_ones():
    assert left([4.0] * FEWEST + [1e-6] * (PAST + 8) + [0.5]) == []


def test_it_learns_anew():
    usual = UsualLoss()
    for _ in range(FEWEST):
        usual.left_by(4.0)
    usual.clear()
    assert (usual.left_by(5e14), usual.first) == (None, 0.0)
