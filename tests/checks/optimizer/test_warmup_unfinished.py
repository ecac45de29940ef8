"""Runs that end in the first part of their warm-up."""

from __future__ import annotations

import pytest

from debugtracer.checks.optimizer.warmup_unfinished import WarmupUnfinished
from debugtracer.diagnosis.judging.judge import Judge
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.schedule import Rate
from debugtracer.trace.window import LR
from tests.checks.optimizer.seen import at, line


def judged(rates, built=3e-3, others=(), **more):
    check = WarmupUnfinished()
    judge, found = Judge({check.slug: check}), []
    for step, rate in enumerate(rates):
        first = Rate(
            ref=at(0), optimizer=0, kind="AdamW", frame=line(31), low=rates[0], high=rates[0], built=built,
            **more,
        )  # fmt: skip
        found += judge.judge(at(step), {LR: rate}, [] if step else [first, *others])
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


def evenly(steps, length=1024):
    return [(i + 1) / length for i in range(steps)]


def test_a_run_says_something_from_100_updates_on():
    assert judged(warmup(100, 20_000))
    assert not judged(warmup(99, 20_000))


def test_a_quarter_of_the_rate_is_enough():
    assert judged(evenly(255), built=1.0)
    assert not judged(evenly(256), built=1.0)


def test_of_two_optimizers_and_of_a_rate_that_nobody_chose_nothing_is_said():
    second = Rate(ref=at(0), optimizer=1, kind="SGD", frame=line(32), low=0.1, high=0.1, built=0.1)
    assert judged(warmup(300, 20_000), others=(second,)) == []
    assert judged(warmup(300, 20_000), built=None) == []


@pytest.mark.parametrize(
    ("rates", "do"),
    [
        ([], False),
        ([1.0], False),
        ([0.0, 1.0], True),
        ([1.0, 1.0], False),
        ([1.0, 0.0], False),
        ([0.0, 1.0, 2.0, 3.0], True),
        ([0.0, 1.0, 2.0, 2.0], False),  # it has arrived
        ([0.0, 1.0, 2.0, 1.9], False),
        ([0.0, 1.0, 2.05], True),
        ([0.0, 1.0, 2.06], False),
    ],
)
def test_which_rates_rise_evenly(rates, do):
    assert WarmupUnfinished().rises(rates) is do


@pytest.mark.parametrize(
    ("known", "shown"),
    [
        ({"value_frame": line(7), "scheduler_frame": line(8)}, 7),
        ({"scheduler_frame": line(8)}, 8),
        ({}, 31),
    ],
)
def test_the_line_is_that_of_the_function_else_of_the_scheduler_else_of_the_optimizer(known, shown):
    (finding,) = judged(warmup(300, 20_000), **known)
    assert finding.place.frame == line(shown)


@pytest.mark.parametrize(
    "code",
    [
        "return size ** (-0.5) * min(step ** (-0.5), step * warmup ** (-1.5))",
        "rate = step / math.sqrt(4000)",
    ],
)
def test_an_inverse_square_root_has_a_peak_of_its_own(code):
    assert judged(warmup(300, 20_000))
    assert judged(warmup(300, 20_000), value_frame=Frame("train.py", 12, "rate", code)) == []
    assert judged(warmup(300, 20_000), rate_frame=Frame("train.py", 12, "rate", code)) == []
