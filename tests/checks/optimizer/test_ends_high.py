"""Runs that end just after a restart of their schedule."""

from __future__ import annotations

import pytest

from debugtracer.checks.optimizer.ends_high import EndsHigh
from debugtracer.diagnosis.judging.judge import Judge
from debugtracer.trace.facts.schedule import RateHistory
from debugtracer.trace.window import LOSS
from tests.checks.optimizer.seen import at, line

HIGH = {
    "optimizer": 0, "kind": "SGD", "frame": line(31), "built": 1e-2, "peak": 1e-2, "rate": 9.8e-3, "lowest": 1e-5,
    "lowest_at": 270, "lowest_step": 269, "updates": 300, "rises": 3, "falls": 297,
    "scheduler": "CosineAnnealingWarmRestarts", "scheduler_frame": line(32),
}  # fmt: skip


def judged(after=0.182, steps=300, **more):
    check = EndsHigh()
    judge, found = Judge({check.slug: check}), []
    for step in range(steps):
        found += judge.judge(at(step), {LOSS: 0.108 if step < steps - 30 else after}, [])
    found += judge.judge(at(steps - 1), {}, [RateHistory(ref=at(steps - 1), **{**HIGH, **more})])
    return [*found, *judge.end(at(steps - 1))]


def test_a_restart_at_the_end_that_makes_the_loss_worse():
    (finding,) = judged()
    assert (finding.severity, finding.kind, finding.place.frame) == ("warning", "scheduler_misuse", line(32))
    assert finding.message == (
        "step 299, rank 0: the learning rate of SGD (train.py:31) had fallen to 1e-05 by step 269 and is back at "
        "0.0098 where the run ends; the loss went from 0.108 to 0.182; expected a run that ends when a cycle ends. "
        "Choose T_0 and T_mult for its length."
    )


@pytest.mark.parametrize(
    "healthy",
    [
        {"after": 0.11},  # the loss does not mind
        {"rate": 4e-3},
        {"lowest": 1e-3},  # no cosine that has run down
        {"lowest_at": 200},  # a cycle with time to come down
        {"lowest_at": 296},
        {"updates": 90},
        {"steps": 30},
    ],
)
def test_other_endings_are_silent(healthy):
    assert judged(**healthy) == []
