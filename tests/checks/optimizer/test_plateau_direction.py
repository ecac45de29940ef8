"""Plateau schedulers that wait for an error to rise."""

from __future__ import annotations

import msgspec
import pytest

from debugtracer.checks.optimizer.plateau_direction import PlateauDirection, would_lower
from debugtracer.diagnosis.judging.judge import Judge
from debugtracer.trace.facts.plateau_fed import PlateauFed
from debugtracer.trace.window import LOSS
from tests.checks.optimizer.seen import at, line

FALLING = [0.5, 0.4, 0.3, 0.25, 0.2, 0.15]
CUT_TWICE = [0.1, 0.1, 0.05, 0.05, 0.025, 0.025]


def fact(step, value, rate, mode="max", patience=1, code=""):
    return PlateauFed(
        ref=at(step), scheduler=0, frame=line(5), step_frame=line(20, code), mode=mode, patience=patience,
        threshold=1e-4, relative=True, value=value, rate=rate,
    )  # fmt: skip


def judged(values, rates=CUT_TWICE, losses=FALLING, **more):
    check = PlateauDirection()
    judge, found = Judge({check.slug: check}), []
    for epoch, (value, rate, loss) in enumerate(zip(values, rates, losses, strict=True)):
        for step in range(20):
            found += judge.judge(at(20 * epoch + step), {LOSS: loss}, [])
        found += judge.judge(at(20 * epoch + 20), {LOSS: loss}, [fact(20 * epoch + 20, value, rate, **more)])
    return found


def test_a_rate_that_falls_because_the_error_does_is_told_once():
    (finding,) = judged(FALLING)
    assert (finding.severity, finding.kind, finding.step) == ("warning", "scheduler_misuse", 60)
    assert (finding.place.frame, finding.place.symptom_frame) == (line(5), line(20))
    assert finding.message == (
        "step 60, rank 0: ReduceLROnPlateau (train.py:5) has lowered the rate 2 times (0.1 to 0.025) while its value "
        'fell from 0.5 to 0.2, as the loss did: it has mode "max"; expected mode "min", by which it had not been '
        'lowered once. Set mode="min".'
    )


@pytest.mark.parametrize(
    ("values", "more"),
    [
        (FALLING, {"mode": "min"}),
        ([0.5, 0.6, 0.7, 0.7, 0.7, 0.7], {}),  # an accuracy that stands still
        ([0.82, 0.8, 0.78, 0.77, 0.76, 0.75], {}),  # one that falls while the training loss falls faster
        ([0.5, 0.6, 0.6, 0.6, 0.45, 0.44], {}),  # an error that stood still: lowered by right
        (FALLING, {"losses": [0.5] * 6}),
        (FALLING, {"rates": [0.1] * 5 + [0.05]}),
        ([50 * v for v in FALLING], {}),  # something else than the loss
    ],
)
def test_rates_that_fall_by_right_are_silent(values, more):
    assert judged(values, **more) == []


def test_the_scheduler_in_the_other_mode():
    assert not would_lower(fact(0, 0.5, 0.1), FALLING)
    assert would_lower(fact(0, 0.5, 0.1), [0.5, 0.6, 0.7])
    assert would_lower(fact(0, 0.5, 0.1, patience=0), [0.5, 0.6])


RISING = [0.5, 0.55, 0.6, 0.65, 0.7, 0.75]


@pytest.mark.parametrize("code", ["plateau.step(val_score)", "scheduler.step(accuracy)", "s.step(metrics['dice'])"])
def test_a_rate_that_falls_because_a_score_rises_is_told(code):
    (finding,) = judged(RISING, mode="min", code=code)
    assert finding.message.endswith(
        'while its value rose from 0.5 to 0.7, as the loss fell: it has mode "min"; expected mode "max", by which it '
        'had not been lowered once. Set mode="max".'
    )


def test_a_score_that_stands_still_after_the_first_wrong_cut_is_told():
    (finding,) = judged([0.5, 0.6, 0.7, 0.69, 0.7, 0.7], mode="min", code="plateau.step(dice)")
    assert "by which it had not been lowered then" in finding.message


def test_a_validation_loss_that_rises_and_a_score_in_the_right_mode_are_silent():
    assert judged(RISING, mode="min", code="plateau.step(val_loss)") == []
    assert judged(RISING, mode="min", code="plateau.step(loss_map)") == []
    assert judged(RISING, mode="max", code="plateau.step(val_score)") == []
    assert judged([0.5, 0.55, 0.5, 0.52, 0.51, 0.6], mode="min", code="plateau.step(score)") == []


def test_a_value_exactly_at_the_threshold_is_no_improvement_as_in_torch():
    exact = msgspec.structs.replace(fact(0, 0.5, 0.1, patience=0), threshold=0.0)
    assert would_lower(exact, [0.5, 0.5])
    assert not would_lower(exact, [0.5, 0.49])
    absolute = msgspec.structs.replace(exact, threshold=0.125, relative=False)
    assert would_lower(absolute, [0.5, 0.375])
    assert not would_lower(absolute, [0.5, 0.37])
    relative = msgspec.structs.replace(exact, threshold=0.25)
    assert would_lower(relative, [0.5, 0.375])
    assert not would_lower(relative, [0.5, 0.37])


def test_at_the_limit_of_what_counts_as_a_fall():
    check, losses = PlateauDirection(like=100.0, drift=100.0), [1.0, 0.5, 0.2]
    for last, told in ((0.9, True), (0.901, False)):
        calls = [(fact(step, value, rate), loss) for step, (value, rate, loss) in enumerate(
            zip([1.0, 0.95, last], [0.1, 0.05, 0.025], losses, strict=True)
        )]  # fmt: skip
        assert (check.wrong_way(calls) is not None) == told


@pytest.mark.parametrize(
    ("values", "follows"),
    [
        ([4.0, 1.0], True),  # four times the loss at both ends
        ([4.01, 1.01], False),
        ([0.25, 0.0625], True),
        ([0.249, 0.0624], False),
        ([1.0, 0.125], True),  # the multiple halves
        ([1.0, 0.124], False),
        ([1.0, 1.0], True),  # that of its root doubles
        ([1.0, 1.01], False),
        ([1.0, 0.0], False),
        ([0.0, 0.1], False),
    ],
)
def test_a_value_follows_the_loss_within_the_limits_of_its_size_and_its_multiple(values, follows):
    check = PlateauDirection(like=4.0, drift=2.0)
    assert check.follows(values, [1.0, 0.25]) is follows
    assert not check.follows(values, [1.0, 0.0])
    assert not check.follows(values, [0.0, 0.25])
