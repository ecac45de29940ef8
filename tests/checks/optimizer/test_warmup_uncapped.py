"""Warm-ups without an end."""

from __future__ import annotations

import msgspec
import pytest

from debugtracer.checks.optimizer.warmup_uncapped import Climb, WarmupUncapped
from debugtracer.diagnosis.judging.judge import Judge
from tests.checks.optimizer.seen import at, line, rate, schedule
from tests.checks.windows import told

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


def test_a_rate_that_the_program_writes_is_beside_that_of_the_lowest_loss():
    early = [2.0 - step / 50 for step in range(80)] + [0.4 + step / 100 for step in range(240)]
    by_hand = {"scheduler": "", "scheduler_frame": None, "value_frame": None, "built": 0.0}
    (finding,) = judged(losses=early, rate_frame=line(12), **by_hand)
    assert (finding.place.frame, finding.confidence) == (line(12), 0.75)
    assert "the program (train.py:12) raised the learning rate in 191 of 191 updates, to 0.0064" in finding.message
    assert "2 times the 0.0032 of then; the loss was 0.475 at step 95" in finding.message
    assert judged(losses=early, rate_frame=None, **by_hand) == []


@pytest.mark.parametrize("code", ["lr = 4e-3 * min(1.0, (step + 1) / 240)", "up = step if step < half else half"])
def test_a_line_with_a_cap_rises_as_it_is_meant_to(code):
    capped = msgspec.structs.replace(line(8), code=code)
    assert judged(value_frame=capped) == []
    assert len(judged(value_frame=msgspec.structs.replace(capped, code="(step + 1) / warmup"))) == 1


def test_twice_the_lowest_level_says_nothing_of_a_rate_by_hand():
    by_hand = {"scheduler": "", "scheduler_frame": None, "value_frame": None, "built": 0.0, "rate_frame": line(12)}

    def level(now):
        return [2.0] * 64 + [0.2] * 32 + [now] * 224

    assert judged(losses=level(1.0), **by_hand) == []
    assert len(judged(losses=level(1.1), **by_hand)) == 1


def test_a_scheduler_that_is_stepped_after_its_steps_is_told_at_its_step():
    def plan(**more):
        return schedule("WarmUpLR", **{"ref": at(0), "frame": line(7), "step_frame": line(50), "horizon": 30,
                           "horizon_word": "total_iters", "last_epoch": 100, **more})  # fmt: skip

    (finding,) = judged(others=[plan()])
    assert finding.place.frame == line(50)
    assert finding.message.endswith("It is made for 30 steps (total_iters): stop stepping it (train.py:50) after them.")
    for other in (plan(last_epoch=37), plan(frame=line(3)), plan(horizon=None)):
        (finding,) = judged(others=[other])
        assert finding.place.frame == line(8)


def test_half_of_what_was_learnt_is_lost():
    def level(low, high):
        return [2.0] * 64 + [low] * 96 + [high] * 160

    assert len(judged(losses=level(1.5, 1.75))) == 1
    assert judged(losses=level(1.5, 1.74)) == []
    assert len(judged(losses=level(1.8, 1.9))) == 1
    assert judged(losses=level(1.81, 1.94)) == []  # hardly anything was learnt


def test_a_line_rises_by_the_same_amount():
    straight = Climb(first=1.0, first_step=0, last=11.0, last_step=10, slope=1.0, moves=11)
    assert straight.is_straight()
    straight.slope = 2.1
    assert not straight.is_straight()
    straight.slope = 0.4
    assert not straight.is_straight()


def climbed(begin=None, **more):
    """A rate that was to be 1.0 and rose evenly from 0.5 to 2.0 in 100 updates."""
    known = {"first": 0.5, "last": 2.0, "last_step": 100, "slope": 0.015, "moves": 101, "rises": 100}
    first = rate(**{**BEGIN, "ref": at(0), "built": 1.0, "low": 0.5, "high": 0.5, **(begin or {})})
    return Climb(begin=first, **{**known, **more})


@pytest.mark.parametrize(
    ("climb", "uncapped"),
    [
        (climbed(), True),
        (climbed(last=1.99), False),  # twice the rate
        (climbed({"high": 0.99}), True),
        (climbed({"high": 1.0}), False),  # it begins at the rate
        (climbed(rises=90), True),  # nine of ten
        (climbed(rises=89), False),
        (climbed(rises_at_best=95), True),  # five since the loss was lowest
        (climbed(rises_at_best=96), False),
        (climbed(slope=0.03), True),  # twice the mean
        (climbed(slope=0.031), False),
        (climbed(slope=0.0075), True),  # half of it
        (climbed(slope=0.0074), False),
        (climbed(slope=-0.015), False),
        (climbed(several=True), False),
        (climbed({"scheduler": ""}), False),
        (climbed({"built": None}), False),
        (climbed({"built": 0.0, "high": -0.1}), False),
        (Climb(), False),
    ],
)
def test_a_warm_up_is_without_an_end_from_each_limit_on(climb, uncapped):
    assert WarmupUncapped().is_uncapped(climb) is uncapped


def test_a_rate_that_does_not_move_is_no_line():
    assert not Climb(first=1.0, last=1.0, last_step=10, slope=0.0, moves=11).is_straight()
    assert not Climb().is_straight()


def test_the_way_of_a_rate_is_counted_once_a_step():
    climb = Climb()
    for step, value in ((0, 1.0), (1, 2.0), (1, 9.0), (3, 3.0), (4, 3.0), (5, 2.5)):
        climb.see(a_window(step, [value]))
    climb.see(a_window(6, []))
    assert (climb.first, climb.first_step, climb.last, climb.last_step) == (1.0, 0, 2.5, 5)
    assert (climb.moves, climb.rises, climb.slope) == (5, 2, -0.5)
    climb.see(a_window(7, [4.5]))
    assert (climb.moves, climb.rises, climb.slope) == (6, 3, 1.0)


def test_the_first_rate_of_the_run_is_its_begin_and_another_optimizer_is_remembered():
    climb = Climb()
    later, first, again, other = (
        rate(**{**BEGIN, "ref": at(0), "number": number, "optimizer": optimizer})
        for number, optimizer in ((3, 0), (0, 0), (0, 0), (2, 1))
    )
    climb.see(told(later))
    assert climb.begin is None
    climb.see(told(first))
    climb.see(told(again))
    assert climb.begin is first and not climb.several
    climb.see(told(other))
    assert climb.several


def a_window(step, values):
    return told(step=step, **({"lr": values} if values else {}))


def test_a_warm_up_that_adds_the_whole_rate_is_divided_before_it_is_capped():
    whole = [BUILT * (step + 0.5) for step in range(STEPS)]
    own = schedule("Warm", frame=line(7), computed=line(25, 'group["lr"] + base'))
    (finding,) = judged(rates=whole, value_frame=None, others=[own])
    assert finding.place.frame is not None and finding.place.frame.line == 25
    assert finding.message.endswith(
        "expected a warm-up that ends. 0.001 is added in each update, that whole rate: divide it by the steps of the "
        "warm-up."
    )
    assert finding.remedy[0].startswith("divide what the warm-up adds") and finding.remedy[1].startswith("cap")


def test_the_line_of_another_scheduler_is_not_taken():
    (finding,) = judged(value_frame=None, others=[schedule("Warm", frame=line(99), computed=line(25))])
    assert finding.place.frame == line(7)
