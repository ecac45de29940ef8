"""Updates that change nothing."""

from __future__ import annotations

from debugtracer.checks.optimizer.no_update import NoUpdate
from tests.checks.optimizer.seen import effect, found, line


def test_three_looks_running_are_a_proof():
    (finding,) = found(NoUpdate(), [effect(n, 4) for n in range(3)])
    assert finding.message == (
        "step 0, rank 0: step() of SGD (train.py:5) left layer.0 and 3 more of 4 parameters unchanged in 3 looks "
        "running, though gradient and learning rate "
        "are large enough; expected a change. Update parameters in place."
    )
    assert (finding.kind, finding.place.frame, finding.exact) == ("parameters_not_updated", line(5), True)


def test_a_look_that_saw_a_change_starts_anew():
    assert found(NoUpdate(), [effect(0, 4), effect(1, 4), effect(2, 0), effect(3, 4), effect(100, 4)], ended=True) == []


def test_an_optimizer_that_collects_inside_gets_time():
    own = [effect(n, 4, by_torch=False) for n in range(3)]
    assert found(NoUpdate(), own) == []
    assert found(NoUpdate(), [*own, effect(100, 0, by_torch=False)], ended=True) == []
    assert len(found(NoUpdate(), own, ended=True)) == 1


def test_looks_in_which_nothing_had_to_change_do_not_count():
    assert found(NoUpdate(), [effect(n, 0, expected=0) for n in range(5)], ended=True) == []


def test_an_optimizer_that_moved_everything_and_stops_is_told_where_it_is_called():
    moved = [effect(n, 0, by_torch=False) for n in range(3)]
    stopped = [effect(n, 4, by_torch=False, stopped=2, called=line(9)) for n in (50, 51, 52)]
    (finding,) = found(NoUpdate(), [*moved, *stopped])
    assert finding.message == (
        "step 50, rank 0: step() of SGD (train.py:9) has stopped changing parameters: its update 2 moved them, and in "
        "3 looks from update 50 on none of 4 moves, though gradient and learning rate are large enough; expected a "
        "change. See what its step() keeps from call to call."
    )
    assert (finding.kind, finding.exact, finding.place.frame, finding.place.symptom_frame) == (
        "parameters_not_updated", True, line(9), line(5),
    )  # fmt: skip


def test_a_pause_of_two_updates_is_none():
    paused = [effect(n, 4, by_torch=False, stopped=2, called=line(9)) for n in (50, 51)]
    assert found(NoUpdate(), [*paused, effect(52, 0, by_torch=False)], ended=True) == []
