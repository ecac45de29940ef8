"""Runs that never come near the rate they chose."""

from __future__ import annotations

import msgspec
import pytest

from debugtracer.checks.optimizer.rate_unreached import RateUnreached
from debugtracer.trace.facts.schedule import RateHistory
from tests.checks.optimizer.seen import at, found, line

STAIRS = {
    "optimizer": 0, "kind": "AdamW", "frame": line(31), "built": 3e-3, "peak": 1.8e-4, "rate": 1.8e-4, "lowest": 3e-5,
    "lowest_at": 40, "lowest_step": 39, "updates": 240, "rises": 5, "falls": 0, "scheduler": "LambdaLR",
    "scheduler_frame": line(33), "step_frame": line(40),
}  # fmt: skip
SQUARED = {**STAIRS, "peak": 9e-6, "rate": 1e-7, "rises": 20, "falls": 219, "value_frame": line(12)}


def judged(fact, **more):
    return found(RateUnreached(), [RateHistory(ref=at(239), **{**fact, **more})])


def test_a_warm_up_that_is_stepped_per_epoch():
    (finding,) = judged(STAIRS)
    assert (finding.severity, finding.kind, finding.place.frame) == ("warning", "scheduler_misuse", line(40))
    assert finding.message == (
        "step 239, rank 0: the learning rate of AdamW (train.py:31) rose in 5 stairs through all 240 updates and ended "
        "at 0.00018, 6 % of the 0.003 it was built with; expected a warm-up that ends early in the run: LambdaLR "
        "(train.py:33) is stepped every 40 updates. Step it after each update."
    )


def test_a_line_that_only_starts_a_trainer_is_not_the_one_to_edit():
    fit = msgspec.structs.replace(line(40), code="trainer.fit(model, loader)")
    (finding,) = judged(STAIRS, step_frame=fit)
    assert finding.place.frame == line(33)
    step = msgspec.structs.replace(line(40), code="scheduler.step()")
    (finding,) = judged(STAIRS, step_frame=step)
    assert finding.place.frame == step
    (finding,) = judged(STAIRS, step_frame=fit, scheduler_frame=None)
    assert finding.place.frame == fit


def test_a_function_that_returns_the_rate_itself():
    (finding,) = judged(SQUARED)
    assert finding.place.frame == line(12)
    assert finding.message == (
        "step 239, rank 0: the learning rate of AdamW (train.py:31) was 9e-06 at its highest, the square of the 0.003 "
        "it was built with; expected 0.003: the function given to LambdaLR (train.py:33) returns the rate itself, and "
        "LambdaLR multiplies the two. Return a factor of the rate."
    )


@pytest.mark.parametrize(
    "healthy",
    [
        {"rate": 1.2e-3, "peak": 1.2e-3},  # a run that was stopped half way
        {"falls": 1},
        {"rises": 120},  # stepped in every other update: another check counts them
        {"rises": 1},
        {"updates": 49},
        {"built": 1.0},  # a scale of the schedule
    ],
)
def test_other_rates_are_silent(healthy):
    assert judged(STAIRS, **healthy) == []


@pytest.mark.parametrize("healthy", [{"peak": 8e-6}, {"scheduler": "OneCycleLR"}, {"built": 1.0, "peak": 1.0}])
def test_other_peaks_are_silent(healthy):
    assert judged(SQUARED, **healthy) == []


def test_a_stair_is_so_many_updates_long_at_least():
    assert judged(STAIRS, rises=19, updates=80)
    assert not judged(STAIRS, rises=19, updates=79)
    assert judged(STAIRS, updates=50)
    assert not judged(STAIRS, updates=49)
