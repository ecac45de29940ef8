"""Schedules in the wrong unit."""

from __future__ import annotations

import pytest

from debugtracer.checks.optimizer.sched_boundary import SchedBoundary
from tests.checks.optimizer.seen import found, line, schedule

CYCLE = {"horizon": 240, "horizon_word": "total_steps", "calls": 6, "updates": 240, "ended": True}
COSINE = {"horizon": 6, "horizon_word": "T_max", "calls": 8, "updates": 8, "last_epoch": 8, "loader": 40}
STONES = {
    "horizon": 12,
    "horizon_word": "milestones",
    "calls": 600,
    "updates": 600,
    "rate": 1e-4,
    "peak": 0.1,
    "ended": True,
}
SHORT = {"calls": 61, "updates": 61, "fallen_at": 41, "rate": 9e-9, "peak": 0.1, "horizon": 8}
GONE = {"calls": 300, "updates": 300, "fallen_at": 88, "rate": 1e-12, "peak": 0.1}


def test_a_cycle_for_updates_stepped_per_epoch():
    (finding,) = found(SchedBoundary(), [schedule("OneCycleLR", **CYCLE)])
    assert finding.message == (
        "step 100, rank 0: OneCycleLR (train.py:7) is made for 240 steps (total_steps) and was stepped 6 times in 240 "
        "updates; expected one step per update, "
        "or total_steps in epochs. Move scheduler.step() into the loop over batches."
    )
    assert (finding.kind, finding.place.frame, finding.place.symptom_frame) == ("scheduler_misuse", line(7), line(20))


def test_a_cosine_in_epochs_stepped_per_batch():
    (finding,) = found(SchedBoundary(), [schedule("CosineAnnealingLR", **COSINE)])
    assert "has passed them within an epoch of 40 batches, so the rate swings up again" in finding.message


def test_a_cosine_of_as_many_steps_as_the_run_has_epochs():
    epochs = {"horizon": 15, "horizon_word": "T_max", "calls": 120, "updates": 128, "last_epoch": 120, "loader": 8}
    (finding,) = found(SchedBoundary(), [schedule("CosineAnnealingLR", **epochs, ended=True)])
    assert "as many as the run has epochs, and was stepped 120 times, so the rate swung up again" in finding.message
    for healthy in ({"ended": False}, {"horizon": 30}, {"calls": 15, "last_epoch": 15}, {"horizon": 128, "loader": 1}):
        assert not found(SchedBoundary(), [schedule("CosineAnnealingLR", **{"ended": True, **epochs, **healthy})])


def test_a_cosine_of_as_many_steps_as_it_was_stepped_in_epochs_after_a_warm_up():
    late = {"horizon": 16, "horizon_word": "T_max", "calls": 128, "updates": 160, "last_epoch": 128, "loader": 8}
    assert found(SchedBoundary(), [schedule("CosineAnnealingLR", **late, ended=True)])
    assert not found(SchedBoundary(), [schedule("CosineAnnealingLR", **{**late, "horizon": 12}, ended=True)])


def test_a_decay_that_is_over_long_before_the_run():
    (finding,) = found(SchedBoundary(), [schedule("ExponentialLR", **GONE)])
    assert "fell below 1e-4 of its peak after 88 of 300 updates (now 1e-12)" in finding.message
    assert (finding.place.frame, finding.place.symptom_frame) == (line(20), line(7))  # the call is to be moved


def test_a_short_run_whose_rate_is_below_what_float32_can_add():
    (finding,) = found(SchedBoundary(), [schedule("StepLR", **SHORT)])
    assert finding.message == (
        "step 100, rank 0: StepLR (train.py:7) is stepped once per batch and its rate fell below 1e-4 of its peak "
        "after 41 of 61 updates (now 9e-09); expected a decay that lasts the run. Step it once per epoch."
    )
    assert (finding.place.frame, finding.place.symptom_frame) == (line(20), line(7))


def test_milestones_in_epochs_stepped_per_batch():
    (finding,) = found(SchedBoundary(), [schedule("MultiStepLR", **STONES)])
    assert "has passed its last milestone after 12 of 600 updates (its rate is 0.0001 since" in finding.message


def test_a_call_beyond_the_end():
    (finding,) = found(
        SchedBoundary(),
        [schedule("OneCycleLR", horizon=40, horizon_word="total_steps", calls=40, updates=41, exhausted=True)],
    )
    assert "is made for 40 steps (total_steps) and is stepped once more" in finding.message


def test_it_is_said_once():
    assert len(found(SchedBoundary(), [schedule("OneCycleLR", **CYCLE)] * 3)) == 1


@pytest.mark.parametrize(
    ("kind", "healthy"),
    [
        ("OneCycleLR", {**CYCLE, "ended": False}),
        ("OneCycleLR", {**CYCLE, "updates": 90, "calls": 3}),
        ("OneCycleLR", {**CYCLE, "calls": 240}),
        ("CosineAnnealingLR", {"horizon": 100, "horizon_word": "T_max", "calls": 10, "updates": 200, "ended": True}),
        ("CosineAnnealingLR", {**COSINE, "loader": 6}),
        ("CosineAnnealingLR", {**COSINE, "calls": 1}),
        ("CosineAnnealingWarmRestarts", {**COSINE}),
        ("MultiStepLR", {**STONES, "ended": False}),
        ("MultiStepLR", {**STONES, "calls": 14}),
        ("MultiStepLR", {**STONES, "horizon": 61}),
        ("MultiStepLR", {**STONES, "rate": 0.05}),
        ("StepLR", STONES),
        ("ExponentialLR", {**GONE, "updates": 200, "calls": 200, "rate": 2e-8}),
        ("StepLR", {**SHORT, "updates": 60, "calls": 60}),
        ("StepLR", {**SHORT, "rate": 1.1e-8}),
        ("ExponentialLR", {**GONE, "calls": 3}),
        ("OneCycleLR", GONE),
    ],
)
def test_runs_that_stop_early_restarts_and_decays_to_the_end_are_healthy(kind: str, healthy: dict[str, float]):
    assert found(SchedBoundary(), [schedule(kind, **healthy)]) == []
