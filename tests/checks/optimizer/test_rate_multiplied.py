"""Schedules whose steps go up."""

from __future__ import annotations

import pytest

from debugtracer.checks.optimizer.rate_multiplied import RateMultiplied
from debugtracer.diagnosis.judging.judge import Judge
from tests.checks.optimizer.seen import at, line, rate

STEPS = 320
DOUBLED = [1e-3 * 2 ** (step // 60) for step in range(STEPS)]
AWAY = [2.0 - step / 100 for step in range(160)] + [0.4 + step / 100 for step in range(160)]
BEGIN = {"number": 0, "built": 1e-3, "scheduler": "StepLR", "scheduler_frame": line(7)}


def judged(rates=DOUBLED, losses=AWAY, later=(), **begin):
    check = RateMultiplied()
    judge, found = Judge({check.slug: check}), []
    first = rate(**{**BEGIN, "ref": at(0), "low": rates[0], "high": rates[0], **begin})
    for step, (lr, loss) in enumerate(zip(rates, losses, strict=True)):
        facts = [first] if step == 0 else [fact for fact in later if fact.ref.step == step]
        found += judge.judge(at(step), {"lr": lr, "loss": loss}, facts)
    return found


def test_the_factor_is_told_once_with_the_line_of_the_scheduler():
    (finding,) = judged()
    assert (finding.severity, finding.kind, finding.place.frame) == ("warning", "scheduler_misuse", line(7))
    assert finding.message == (
        f"step {finding.step}, rank 0: StepLR (train.py:7) multiplied the learning rate by 2 in each of 3 moves, to "
        "0.008, 8 times the first; the loss was 0.475 at step 175 and is 1.11 now; expected a factor below 1. Use 0.5."
    )


def test_of_a_rate_by_hand_the_line_that_writes_it():
    written = rate(ref=at(180), number=180, scheduler="", rate_frame=line(12), low=8e-3, high=8e-3)
    (finding,) = judged(later=[written], scheduler="", scheduler_frame=None)
    assert finding.place.frame == line(12)
    assert "the program (train.py:12) multiplied" in finding.message


@pytest.mark.parametrize(
    "healthy",
    [
        {"losses": [2.0 - step / 200 for step in range(STEPS)]},  # it learns
        {"losses": [-loss for loss in AWAY]},  # may be anything
        {"rates": [1e-3 / 2 ** (step // 60) for step in range(STEPS)]},
        {"rates": [1e-5 * 1.03**step for step in range(STEPS)]},  # a search for a rate
        {"rates": [1e-3 * (1 + step // 60) for step in range(STEPS)]},  # no factor
        {"rates": [1e-3 * 2 ** min(step // 60, 2) for step in range(STEPS)]},  # two moves, a warm-up by hand
        {"rates": [1e-3 * (2, 4, 2, 4, 2, 4)[step // 60] for step in range(STEPS)]},  # it falls again
        {"rates": [1e-3 * 1.05 ** (step // 60) for step in range(STEPS)]},  # hardly more than the first
    ],
)
def test_other_schedules_are_silent(healthy):
    assert judged(**healthy) == []


def test_of_two_optimizers_nothing_is_said():
    other = rate(ref=at(2), optimizer=1, number=0)
    assert judged(later=[other]) == []
