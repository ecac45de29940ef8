"""Runs that end in the first part of their warm-up."""

from __future__ import annotations

import pytest

from debugtracer.checks.optimizer.warmup_unfinished import WarmupUnfinished
from debugtracer.diagnosis.judging.judge import Judge
from debugtracer.trace.facts.schedule import Rate
from debugtracer.trace.window import LR
from tests.checks.optimizer.seen import at, line


def judged(rates, built=3e-3):
    check = WarmupUnfinished()
    judge, found = Judge({check.slug: check}), []
    for step, rate in enumerate(rates):
        first = Rate(
            ref=at(0), optimizer=0, kind="AdamW", frame=line(31), low=rates[0], high=rates[0], built=built
        )  # fmt: skip
        found += judge.judge(at(step), {LR: rate}, [] if step else [first])
    return [*found, *judge.end(at(len(rates) - 1))]


def warmup(steps, length):
    return [3e-3 * min(1.0, (i + 1) / length) for i in range(steps)]


def test_a_warm_up_of_another_configuration_is_told_at_the_end():
    (finding,) = judged(warmup(300, 20_000))
    assert (finding.severity, finding.kind, finding.place.frame) == ("warning", "scheduler_misuse", line(31))
    assert finding.message == (
        "step 299, rank 0: the learning rate of AdamW (train.py:31) rose through all 300 updates and ended at 4.5e-05, "
        "1.5 % of the 0.003 it was built with; expected a warm-up that ends early in the run: at this pace it takes "
        "20000 updates. Shorten the warm-up."
    )


@pytest.mark.parametrize(
    "rates",
    [
        warmup(300, 20),
        warmup(300, 600),  # a run that was stopped half way
        warmup(80, 20_000),
        [1e-5] * 300,
        [1e-5 * 1.001**i for i in range(300)],  # a range test rises by a factor
    ],
)
def test_other_schedules_are_silent(rates):
    assert judged(rates) == []
