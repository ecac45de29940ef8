"""Close looks come twice as often after each anomaly and half as often after each quiet look."""

from __future__ import annotations

from debugtracer.observers.look_cadence import LookCadence
from debugtracer.recorder.run_state import RunState


def looks(cadence: LookCadence, steps: range) -> list[int]:
    return [step for step in steps if cadence.is_due(step)]


def test_a_quiet_run_is_looked_at_every_so_many_steps() -> None:
    assert looks(LookCadence(RunState(), 100, at_rest=False), range(3, 350)) == [100, 200, 300]
    assert looks(LookCadence(RunState(), 100, at_rest=True), range(3, 350)) == []
    assert looks(LookCadence(RunState(), 0, at_rest=False), range(3, 350)) == []


def test_each_anomaly_halves_the_interval_and_each_quiet_look_doubles_it() -> None:
    state = RunState()
    cadence = LookCadence(state, 100, at_rest=False)
    assert looks(cadence, range(3, 110)) == [100]
    state.anomalies += 1
    assert looks(cadence, range(110, 116)) == []
    state.anomalies += 1
    assert cadence.interval == 50 and looks(cadence, range(116, 420)) == [125, 150, 200, 300, 400]


def test_no_more_than_three_halvings() -> None:
    state = RunState()
    cadence = LookCadence(state, 100, at_rest=True)
    for step in range(1, 8):
        state.anomalies += 1
        cadence.is_due(step)
    assert cadence.interval == 12
    assert looks(cadence, range(8, 400)) == [12, 25, 50]  # and then at rest again


def test_an_interval_of_one_stays_one() -> None:
    state = RunState()
    cadence = LookCadence(state, 1, at_rest=False)
    state.anomalies += 1
    assert looks(cadence, range(3, 7)) == [3, 4, 5, 6]
