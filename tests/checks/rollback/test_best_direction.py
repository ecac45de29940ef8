"""What keeps the best model: the wrong way round, and rightly."""

from __future__ import annotations

from typing import Any

import pytest

from debugtracer.checks.rollback.best_direction import BestDirection, rank_correlation
from debugtracer.trace.finding import Finding
from debugtracer.trace.window import LOSS, VAL_LOSS, Window
from tests.trace.facts.test_best_kept import kept

RIGHT = (0.28, 0.45, 0.6, 0.75, 0.85, 0.92)
FALLING = (1.8, 1.5, 1.1, 0.8, 0.5, 0.36)


def judged(
    values: tuple[float, ...], held_out: tuple[float, ...] = FALLING, training: tuple[float, ...] = FALLING, **more: Any
) -> list[Finding]:
    memories: dict[str, dict[Any, Any]] = {}
    said: list[Finding] = []
    for count, (value, loss, own) in enumerate(zip(values, held_out, training, strict=False)):
        fact = kept(value, count, **more)
        series = {LOSS: [own] * 3, VAL_LOSS: [loss]}
        facts, came = {type(fact): [fact]}, {type(fact): 1}
        fresh = frozenset({LOSS, VAL_LOSS})
        window = Window(fact.ref, series=series, fresh=fresh, facts=facts, came=came, memories=memories)
        said += BestDirection().judge(window)
    return said


def test_a_score_with_mode_min_is_told_once():
    (finding,) = judged(RIGHT)
    assert finding.message.endswith(
        "ModelCheckpoint (train.py:24) has kept evaluation 1 of 5 as the best, with 0.28 of right: the minimum counts. "
        "It has risen to 0.85 since, while the loss on held-out data fell from 1.8 to 0.5 and that of training from "
        '1.8 to 0.5; expected the maximum. Set mode="max".'
    )
    assert (finding.severity, finding.kind, finding.place.frame.line) == ("warning", "best_reversed", 24)


def test_percents_are_scores_too_and_a_trainer_has_another_setting():
    (finding,) = judged(tuple(100 * one for one in RIGHT), owner="Trainer")
    assert finding.message.endswith("Set greater_is_better=True.")


def test_a_comparison_of_the_program_is_to_be_turned():
    (finding,) = judged(RIGHT, own=True, owner="right < best")
    assert (
        "`right < best` (train.py:24) takes evaluation 1 of 5 for the best, 0.28 of right: the minimum counts. It has "
        "risen to 0.85 since" in finding.message
    )
    assert finding.message.endswith("expected the maximum. Turn the comparison round.")
    assert finding.remedy[0].startswith("turn the comparison round")


@pytest.mark.parametrize("power", [1, 0.5])
def test_a_loss_with_mode_max_is_told(power):
    (finding,) = judged(tuple(3 * one**power for one in FALLING), mode="max", monitor="val_loss")
    assert "the maximum counts. It has fallen to" in finding.message
    assert finding.message.endswith('Set mode="min".')


OVERFITTED = (0.5, 0.6, 0.75, 0.85, 0.9, 0.95)


@pytest.mark.parametrize(
    ("values", "more"),
    [
        (RIGHT, {"mode": "max"}),
        (FALLING, {}),
        (OVERFITTED, {"held_out": OVERFITTED}),  # the loss on held-out data itself
        (tuple(one / 2 for one in OVERFITTED), {"held_out": OVERFITTED}),  # an error of a model that overfits
        ((0.02, 0.03, 0.05, 0.08, 0.1, 0.12), {}),  # an error of calibration, false alarms
        ((0.9, 1.0, 1.2, 1.4, 1.5, 1.7), {}),  # a loss on data of another kind
        ((1.0, 0.97, 0.93, 0.9, 0.86, 0.83), {"mode": "max"}),  # the share that is found, at first all
        ((0.28, 0.2, 0.15, 0.5, 0.8, 0.9), {}),  # the least is the third
        ((0.28, 0.8, 0.4, 0.9, 0.3, 0.6), {}),
        (RIGHT, {"training": (1.0,) * 6}),
        (RIGHT, {"held_out": (1.8, 1.75, 1.7, 1.65, 1.6, 1.55)}),
        (RIGHT[:4], {}),  # too short
        ((-200.0, -150.0, -100.0, -60.0, -30.0, -20.0), {}),
    ],
)
def test_others_are_silent(values, more):
    assert judged(values, **more) == []


def test_without_a_loss_on_held_out_data_it_is_silent():
    fact = kept()
    assert not list(BestDirection().judge(Window(fact.ref, facts={type(fact): [fact]}, came={type(fact): 1})))


def test_rank_correlation():
    assert rank_correlation([1, 2, 5], [3, 4, 9]) == 1
    assert rank_correlation([1, 2, 5], [9, 4, 3]) == -1
    assert rank_correlation([1, 1, 1], [9, 4, 3]) == 0


def test_a_value_that_stays_at_zero_is_no_loss():
    assert judged((0.0,) * 6, mode="max", monitor="val_loss") == []
