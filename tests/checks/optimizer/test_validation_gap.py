"""Does the validation loss rise while the training loss falls?"""

from __future__ import annotations

import random

import pytest

from debugtracer.checks.optimizer.validation_gap import ValidationGap, noise_of
from debugtracer.diagnosis.judging.judge import Judge
from debugtracer.trace.step import StepRef


def judged(evaluations, every=10, check=None):
    """Findings of a run with these (training loss, validation loss) pairs, one every `every` steps."""
    check = check or ValidationGap()
    judge, found, step = Judge({check.slug: check}), [], 0
    for trained, val in evaluations:
        for _ in range(every):
            found += judge.judge(StepRef(iteration=step, step=step), {"loss": trained})
            step += 1
        found += judge.judge(StepRef(iteration=step, step=step), {"val_loss": val})
    return found


OVERFIT = [(0.7, 0.75), (0.6, 0.7), (0.5, 0.65), (0.4, 0.6), (0.3, 0.65), (0.25, 0.72), (0.2, 0.8), (0.15, 0.9)]


def test_fires_at_the_third_rise_and_names_the_best_step():
    (finding,) = judged(OVERFIT)
    assert (finding.check, finding.severity, finding.kind, finding.step) == (
        "optimizer/validation-gap",
        "warning",
        "overfitting",
        70,
    )
    assert finding.message == (
        "step 70, rank 0: the validation loss rose 3 evaluations in a row to 0.8 while the training loss fell to 0.2; "
        "the best was 0.6 at step 40; "
        "expected a gap below 10% of the training loss, it is 300%. Keep the weights of step 40."
    )
    assert finding.evidence == {"val_loss": 0.8, "loss": 0.2, "best": 0.6, "best_step": 40}


def test_says_it_again_only_after_a_new_best():
    again = [(0.1, 0.5), (0.09, 0.6), (0.08, 0.7), (0.07, 0.8), (0.06, 0.9)]
    assert [f.step for f in judged(OVERFIT + again, every=60)] == [420, 720]


@pytest.mark.parametrize(
    "evaluations",
    [
        [(0.7, 0.75), (0.6, 0.7), (0.5, 0.65), (0.4, 0.66), (0.3, 0.64), (0.2, 0.66), (0.1, 0.65)],  # up and down
        [(0.7, 0.7), (0.8, 0.8), (0.9, 0.9), (1.0, 1.0), (1.1, 1.1)],  # both rise: that is divergence
        [(0.7, 0.70), (0.6, 0.71), (0.5, 0.72), (0.4, 0.73), (0.3, 0.74)],  # rises by less than a tenth
        [(0.7, 0.75), (0.6, 0.8), (0.5, 0.9)],  # not yet three
        [(-1.0, 0.5), (-1.2, 0.51), (-1.4, 0.52), (-1.6, 0.53)],  # a loss below zero
    ],
)
def test_stays_silent(evaluations):
    assert judged(evaluations) == []


def test_at_the_threshold_of_the_rise():
    evaluations = [(0.5, 0.4), (0.4, 0.42), (0.3, 0.43)]
    assert judged([*evaluations, (0.2, 0.44)]) == []
    assert len(judged([*evaluations, (0.2, 0.4401)])) == 1


def test_an_option_moves_the_threshold():
    assert judged([(0.5, 0.4), (0.4, 0.41), (0.3, 0.42)], check=ValidationGap(rises=2, rise=0.01)) != []


def test_noise_of_a_small_validation_set_is_no_trend():
    """20 runs of 1,000 evaluations of a model that has converged, with 8 % noise."""
    draw = random.Random(0)
    for _ in range(20):
        assert judged([(0.5 - n * 1e-5, 0.6 * (1 + draw.gauss(0, 0.08))) for n in range(1000)], every=1) == []


def test_a_log_with_a_number_every_50_steps_is_judged_by_its_own_steps():
    check = ValidationGap()
    judge = Judge({check.slug: check})
    found = [
        f
        for n, (loss, val) in enumerate(OVERFIT)
        for f in judge.judge(StepRef(iteration=50 * n, step=50 * n), {"loss": loss, "val_loss": val})
    ]
    assert [(f.step, f.evidence["best_step"]) for f in found] == [(300, 150)]


def test_a_run_that_logs_only_the_validation_loss_is_not_judged():
    check = ValidationGap()
    judge = Judge({check.slug: check})
    assert [
        f for n, (_, val) in enumerate(OVERFIT) for f in judge.judge(StepRef(iteration=n, step=n), {"val_loss": val})
    ] == []


def test_noise_of_knows_a_curve_from_noise():
    draw = random.Random(2)
    assert noise_of([0.9**n for n in range(50)]) < 0.01
    assert noise_of([draw.gauss(0, 0.5) for _ in range(5000)]) == pytest.approx(0.5, rel=0.05)
    assert noise_of([1.0, 2.0]) == 0.0


def test_at_the_threshold_of_the_gap_to_the_training_loss():
    rising = [(0.5, 0.4), (0.48, 0.43), (0.46, 0.46)]
    assert judged([*rising, (0.446, 0.49)]) == []  # a gap of 0.044, a tenth would be 0.0446
    assert len(judged([*rising, (0.445, 0.49)])) == 1


def test_a_training_loss_that_stands_still_is_no_overfitting():
    rising = [(0.3, 0.4), (0.3, 0.43), (0.3, 0.46)]
    assert judged([*rising, (0.3, 0.49)]) == []
    assert len(judged([*rising, (0.2999, 0.49)])) == 1


def test_two_rises_and_a_standstill_are_not_three_rises():
    falling = [(1.0 - 0.05 * n, 0.64 - 0.04 * n) for n in range(7)]  # to 0.40
    assert judged([*falling, (0.3, 0.43), (0.2, 0.43), (0.1, 0.49)]) == []
    assert len(judged([*falling, (0.3, 0.43), (0.2, 0.44), (0.1, 0.49)])) == 1


def test_a_value_as_good_as_the_best_is_the_new_best():
    (first,) = judged([(0.5, 0.4), (0.4, 0.4), (0.3, 0.5), (0.2, 0.6), (0.1, 0.7)])
    assert first.evidence["best_step"] == 20


def test_the_loader_that_trains_is_the_place_and_a_training_loss_of_zero_has_no_share():
    check = ValidationGap()
    judge, found = Judge({check.slug: check}), []
    for step, (trained, val) in enumerate([(0.5, 0.4), (0.4, 0.5), (0.3, 0.6), (0.0, 0.7)]):
        ref = StepRef(iteration=step, step=step)
        found += judge.judge(ref, {"loss": trained, "val_loss": val})
    (finding,) = found
    assert "it is inf%" in finding.message
    assert finding.place.frame is None
