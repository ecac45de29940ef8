"""Schedulers stepped in the wrong place."""

from __future__ import annotations

import pytest

from debugtracer.checks.optimizer.sched_order import SchedOrder
from debugtracer.trace.finding import UNTRAINED
from tests.checks.optimizer.seen import found, line, schedule

WRONG = {
    "early": (
        {"early": 1, "early_again": 1, "early_frame": line(25), "updates": 2, "calls": 3},
        25,
        "is stepped (train.py:25) before the first step",
    ),
    "micro": (
        {"micro": 2, "per_update": 4, "updates": 3, "calls": 12},
        20,
        "is stepped (train.py:20) 4 times per update, once for each backward",
    ),
    "twice": (
        {"doubled": 2, "doubled_frame": line(30), "updates": 80, "calls": 82},
        30,
        "is stepped a second time (train.py:30) before the next update",
    ),
    "other": (
        {"calls": 2, "other_updates": 20},
        7,
        "was stepped 2 times for an optimizer that has never stepped while others made 20 updates",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_each_of_the_four_is_named_with_its_line(name: str):
    facts, number, said = WRONG[name]
    (finding,) = found(SchedOrder(), [schedule("StepLR", **facts)])
    assert said in finding.message
    assert (finding.place.frame, finding.kind, finding.severity) == (line(number), "scheduler_misuse", "warning")


def test_a_line_that_builds_a_scheduler_in_every_epoch_is_told_once():
    facts, _, _ = WRONG["early"]
    assert len(found(SchedOrder(), [schedule("StepLR", **facts), schedule("StepLR", **facts)])) == 1
    other = facts | {"early_frame": line(40)}
    assert len(found(SchedOrder(), [schedule("StepLR", **facts), schedule("StepLR", **other)])) == 2


@pytest.mark.parametrize("name", WRONG)
def test_of_a_rate_that_was_skipped_no_training_decides(name: str):
    (finding,) = found(SchedOrder(), [schedule("StepLR", **WRONG[name][0])])
    assert (UNTRAINED in finding.evidence) is (name == "early")


def test_the_message_word_for_word():
    (finding,) = found(SchedOrder(), [schedule("StepLR", **WRONG["early"][0])])
    assert finding.message == (
        "step 100, rank 0: StepLR is stepped (train.py:25) before the first step of its optimizer, so the first rate "
        "of the schedule is skipped; expected "
        "optimizer.step() first. Move it below optimizer.step()."
    )


@pytest.mark.parametrize(
    ("kind", "healthy"),
    [
        ("StepLR", {"early": 5, "early_again": 5, "updates": 9, "calls": 9}),
        ("StepLR", {"early": 1, "early_again": 0, "updates": 9, "calls": 9}),
        ("ReduceLROnPlateau", {"early": 1, "early_again": 9, "updates": 9, "calls": 9}),
        ("StepLR", {"doubled": 1, "updates": 9, "calls": 9}),
        ("LambdaLR", {"calls": 9, "other_updates": 90, "known": False}),
    ],
)
def test_a_resume_a_plateau_and_a_dummy_optimizer_are_healthy(kind: str, healthy: dict[str, int]):
    assert found(SchedOrder(), [schedule(kind, **healthy)]) == []
