"""The clocks that a governor looks at: when, what they tell of a full machine, and what they miss."""

from __future__ import annotations

import time

import pytest

from debugtracer.recorder import governor as governors
from debugtracer.recorder.governor import (
    FIRST_STEPS,
    GRACE_S,
    Governor,
    Part,
)
from debugtracer.recorder.run_state import RunState
from tests.recorder.governed import Steps


def test_a_look_in_which_the_machine_slept_is_not_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(governors, "CLOCK_MOST_S", 1.0)
    monkeypatch.setattr(governors, "LOOK_SHARE", 0.02)  # a look of a millisecond on a busy machine is no stop
    looks: list[int] = []

    def stopped_once() -> tuple[float, float]:
        looks.append(1)
        time.sleep(0.05 if len(looks) == 1 else 0.0)
        return 0.0, 0.0

    governor = Governor(0.03, RunState(), read=lambda: (0.0, 0.0))
    governor.read = stopped_once
    for _ in range(200):
        governor.steps_closed(0.05, 16)
    assert len(looks) > 5, "50 ms would be a fiftieth of 2.5 s"


def test_clocks_that_are_dear_are_looked_at_rarely() -> None:
    looks: list[int] = []

    def dear() -> tuple[float, float]:
        looks.append(1)
        time.sleep(0.002)
        return 0.0, 0.0

    governor = Governor(0.03, RunState(), read=dear)
    looks.clear()
    for _ in range(40):
        governor.steps_closed(0.05, 16)  # seconds that are told, none that pass
    assert len(looks) <= 2, "one at once, the next once 2 ms are a thousandth of the steps"


def test_a_look_at_the_clocks_tells_the_share_of_a_core(monkeypatch: pytest.MonkeyPatch) -> None:
    for cpu_s, wall_s, share, pace in (
        (0.5, 1.0, 0.5, 0.5),
        (0.1, 1.0, 0.1, 1 / 3),
        (0.0, 1.0, 0.02, 1 / 3),
        (2.0, 1.0, 1.0, 1.0),
        (0.0, 0.0, 1.0, 1.0),
    ):
        clock = iter([(0.0, 0.0), (cpu_s, wall_s)])
        governor = Governor(0.03, RunState(), read=lambda clock=clock: next(clock))  # type: ignore[misc]
        governor.look_at_clock()
        assert (governor.share, governor.pace, governor.is_pace_known) == (share, pytest.approx(pace), True)
        assert governor.clock_s == pytest.approx(0.05, abs=0.01)


def test_steps_of_one_kind_tell_what_the_clocks_inside_miss() -> None:
    steps = Steps(core=0.5)
    taken: list[tuple[object, float, float]] = []
    steps.state.unseen.take = lambda *told: taken.append(told)  # type: ignore[method-assign]
    governor, state = steps.governor, steps.state
    state.step = FIRST_STEPS + 1
    governor.block_steps, governor.block_own_s, governor.block_kinds = 4, 0.4, {True}
    state.incident_s, steps.wall_s = 0.2, 2.0
    governor.look_at_clock()
    assert taken == [(True, pytest.approx((1.0 - 0.5 * 0.2) / 4), pytest.approx(0.5 * 0.4 / 4))]
    assert (governor.block_steps, governor.block_own_s, governor.block_s, governor.block_kinds) == (0, 0.0, 0.0, set())
    for kinds in ({True, False}, set()):
        governor.block_kinds, steps.wall_s = kinds, steps.wall_s + 1.0
        governor.look_at_clock()
    assert len(taken) == 1, "steps of both kinds tell of neither"


def test_a_new_run_forgets_the_clocks_of_the_last_one() -> None:
    steps = Steps(core=0.5)
    steps.go(FIRST_STEPS + 40, 0.1, 0.09, incident_s=0.01)
    governor = steps.governor
    assert (governor.pace, governor.is_pace_known) == (0.5, True)
    governor.reset()
    assert (governor.pace, governor.share, governor.is_pace_known) == (1.0, 1.0, False)
    assert (governor.balance_s, governor.spared_s, governor.incident_s, governor.first_s) == (
        GRACE_S,
        GRACE_S,
        0.0,
        0.0,
    )
    assert (governor.seen_own_s, governor.seen_judge_s, governor.block_steps, governor.block_s) == (0.0, 0.0, 0, 0.0)


def test_on_a_full_machine_first_steps_are_given_as_many_seconds_of_a_core():
    steps = Steps(core=0.5)
    steps.go(FIRST_STEPS, 0.2, 0.11)
    assert steps.governor.pace == 0.5
    assert steps.governor.balance_s == GRACE_S


def test_on_a_full_machine_the_share_is_looked_at_before_the_sixteenth_step_where_it_decides():
    steps = Steps(core=0.4)
    steps.go(3, 5.0, 2.0)
    assert steps.governor.pace == 0.4
    assert steps.working() == list(Part)
    quiet = Steps()
    quiet.go(4, 5.0, 2.0)
    assert quiet.working() == [Part.STEPS]


@pytest.mark.parametrize(("core", "times"), [(0.5, 2.0), (0.1, 3.0)])
def test_on_a_full_machine_a_run_keeps_what_it_is_given(core: float, times: float) -> None:
    quiet, full = Steps(), Steps(core=core)
    for steps in (quiet, full):
        steps.go(FIRST_STEPS, 0.002, 0.001)
        while steps.governor.affords(Part.OBSERVERS):
            steps.go(1, 0.002, 0.001)
    rests_after = [steps.state.step - FIRST_STEPS for steps in (quiet, full)]
    assert rests_after[1] / rests_after[0] == pytest.approx(times, rel=0.02)


def test_on_a_full_machine_the_share_is_the_same() -> None:
    steps = Steps(core=0.5)
    steps.go(3000, 0.1, 0.0028)
    assert steps.working() == list(Part)
