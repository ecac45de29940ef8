"""A log of one rank."""

from __future__ import annotations

from collections.abc import Sequence

from debugtracer.checks.logging.rank0_only import Rank0Only
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.facts.logged import Logged
from debugtracer.trace.step import StepRef
from debugtracer.trace.window import Window
from tests.checks.device.replicas import a_replica

LOG = Frame("/p/train.py", 39)
LOW, HIGH = [0.1 + 0.01 * (step % 5) for step in range(40)], [0.9 + 0.01 * (step % 5) for step in range(40)]


def a_log(step, rank=0, ratio=1.0, name="train/loss"):
    return Logged(
        ref=StepRef(iteration=step, step=step, rank=rank),
        source="tensorboard",
        name=name,
        value=0.1,
        ratio=ratio,
        frame=LOG,
    )


def a_rank(rank: int, losses: Sequence[float], logs: Sequence[Fact] = (), alone: bool = False) -> Window:
    facts = {Logged: list(logs), **({} if alone else {type(a_replica()): [a_replica(0, rank)]})}
    return Window(StepRef(iteration=39, step=39, rank=rank), {"loss": losses}, facts=facts)


def judged(low=LOW, high=HIGH, logs=None, other=(), alone=False):
    logs = [a_log(step) for step in range(30, 40)] if logs is None else logs
    return list(Rank0Only().judge_ranks({0: a_rank(0, low, logs, alone), 1: a_rank(1, high, other, alone)}))


def test_fires_on_the_own_loss_of_a_rank_that_is_not_like_the_others():
    (finding,) = judged()
    assert finding.message == (
        "step 39, rank 0: train/loss (train.py:39) is the loss of rank 0 alone: 0.12 on average over 40 steps, of all "
        "ranks 0.52; expected their mean. "
        "all_reduce it before the log."
    )
    assert (finding.severity, finding.place.frame) == ("note", LOG)


def test_stays_silent_on_a_reduced_loss_and_on_losses_that_all_ranks_log():
    assert judged(logs=[a_log(step, ratio=4.3) for step in range(30, 40)]) == []
    assert judged(other=[a_log(step, rank=1) for step in range(30, 40)]) == []


def test_stays_silent_on_ranks_that_differ_by_chance():
    assert (
        judged(
            low=[0.5 + 0.1 * (step % 5) for step in range(40)],
            high=[0.5 + 0.1 * ((step + 2) % 5) for step in range(40)],
        )
        == []
    )


def test_at_the_threshold_of_eight_logs_and_twenty_steps():
    assert len(judged(logs=[a_log(step) for step in range(8)])) == 1
    assert judged(logs=[a_log(step) for step in range(7)]) == []
    assert len(judged(LOW[:20], HIGH[:20])) == 1
    assert judged(LOW[:19], HIGH[:19]) == []


def test_stays_silent_on_programs_that_do_not_train_together():
    assert judged(alone=True) == []
    assert list(Rank0Only().judge_ranks({0: a_rank(0, LOW)})) == []


def test_steps_with_a_loss_that_is_not_finite_are_left_out():
    assert len(judged([*LOW[:-1], float("inf")], HIGH)) == 1
    assert judged([float("nan")] * len(LOW), HIGH) == []
