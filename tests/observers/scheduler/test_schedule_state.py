"""The rate of one optimizer, update by update."""

from __future__ import annotations

from debugtracer.observers.scheduler.schedule_state import ScheduleState


def followed(rates: list[float]) -> ScheduleState:
    state = ScheduleState(0)
    for step, rate in enumerate(rates):
        state.moves(rate, step)
        state.fades(rate, step)
        state.high, state.peak = rate, max(state.peak, rate)
    return state


def test_the_largest_move_as_a_ratio_is_kept() -> None:
    assert followed([0.1, 0.2, 0.02, 0.03]).move == (0.2, 0.02, 2)
    assert followed([0.1, 0.1, 0.0, 0.1]).move is None


def test_updates_with_next_to_no_rate_are_counted_from_the_first_one() -> None:
    state = followed([1.0, 0.1, 0.01, 1e-4, 1e-5, 0.0, 2e-4])
    assert (state.faded, state.faded_at, state.falls) == (3, 3, 2)
