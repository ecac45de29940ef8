"""Warm-ups without an end."""

from __future__ import annotations

import pytest

from debugtracer.checks.optimizer.warmup_uncapped import Climb, WarmupUncapped
from debugtracer.diagnosis.judging.judge import Judge
from tests.checks.optimizer.seen import at, line, rate

BUILT, WARM_UP, STEPS = 1e-3, 30, 320
CLIMB = [BUILT * (step + 1) / WARM_UP for step in range(STEPS)]
AWAY = [2.0 - step / 100 for step in range(160)] + [0.4 + step / 100 for step in range(160)]
BEGIN = {"number": 0, "built": BUILT, "scheduler": "LambdaLR", "scheduler_frame": line(7), "value_frame": line(8)}


def judged(rates=CLIMB, losses=AWAY, others=(), **begin):
    check = WarmupUncapped()
    judge, found = Judge({check.slug: check}), []
    first = rate(**{**BEGIN, "ref": at(0), "low": rates[0], "high": rates[0], **begin})
    for step, (lr, loss) in enumerate(zip(rates, losses, strict=True)):
        found += judge.judge(at(step), {"lr": lr, "loss": loss}, [first, *others] if step == 0 else [])
    return found


def test_it_is_told_once_when_the_loss_left_its_lowest_level_with_the_line_of_the_schedule():
    (finding,) = judged()
    assert (finding.severity, finding.kind, finding.step) == ("warning", "scheduler_misuse", 239)
    assert finding.place.frame == line(8)
    assert finding.message == (
        "step 239, rank 0: LambdaLR (train.py:7) raised the learning rate in 239 of 239 updates, to 0.008, 8 times the "
        "0.001 that AdamW was built with; the loss was 0.475 at step 175, when the rate was lower, and is 1.11 now; "
        "expected a warm-up that ends. Cap its factor: min(1.0, ...)."
    )


def test_without_a_function_the_line_is_that_of_the_scheduler():
    (finding,) = judged(value_frame=None)
    assert finding.place.frame == line(7)


def capped(top):
    return [min(lr, top * BUILT) for lr in CLIMB]


@pytest.mark.parametrize(
    "healthy",
    [
        {"losses": [2.0 - step / 200 for step in range(STEPS)]},  # it learns
        {"losses": [-loss for loss in AWAY]},  # may be anything
        {"rates": capped(1.0)},
        {"rates": capped(5.0)},  # it ended, though high
        {"rates": [lr / 6 for lr in CLIMB]},  # not beyond what it was built with
        {"rates": [BUILT + lr for lr in CLIMB]},  # from its base upwards, as a cycle
        {"rates": [1e-5 * 1.03**step for step in range(STEPS)]},  # a search for a rate
        {"rates": [*CLIMB[:230], *reversed(CLIMB[140:230])]},  # it falls again
        {"scheduler": ""},
        {"built": None},
        {"others": [rate(**{**BEGIN, "ref": at(0), "optimizer": 1})]},
    ],
)
def test_schedules_that_people_use_and_losses_that_stay_are_silent(healthy):
    assert judged(**healthy) == []


def test_twice_the_lowest_level_is_the_least():
    def level(top):
        return [1.0] * 160 + [top] * 160

    assert judged(losses=level(1.99)) == []
    assert len(judged(losses=level(2.0))) == 1


def test_twice_the_rate_is_the_least():
    assert judged(built=CLIMB[-1] / 1.99) == []
    assert len(judged(built=CLIMB[-1] / 2)) == 1


def test_a_line_rises_by_the_same_amount():
    straight = Climb(first=1.0, first_step=0, last=11.0, last_step=10, slope=1.0, moves=11)
    assert straight.is_straight()
    straight.slope = 2.1
    assert not straight.is_straight()
    straight.slope = 0.4
    assert not straight.is_straight()
