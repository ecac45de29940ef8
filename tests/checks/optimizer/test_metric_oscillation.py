"""Does a logged metric jump to and fro?"""

from __future__ import annotations

import math
import random

import pytest

from debugtracer.checks.optimizer.metric_oscillation import MetricOscillation, swing_of
from debugtracer.diagnosis.judging.judge import Judge
from debugtracer.trace.step import StepRef


def judged(values, name="logged/val_acc", every=50, check=None):
    check = check or MetricOscillation()
    judge, found = Judge({check.slug: check}), []
    for n, value in enumerate(values):
        found += judge.judge(StepRef(iteration=every * n, step=every * n), {"loss": 1.0, name: value})
    return found + list(judge.end(StepRef(iteration=every * len(values), step=every * len(values))))


def swinging(n, size=0.1):
    draw = random.Random(0)
    return [0.7 + size * (-1) ** i + draw.gauss(0, size / 5) for i in range(n)]


def test_fires_on_an_accuracy_that_alternates_and_says_it_once():
    (finding,) = judged(swinging(64))
    assert (finding.severity, finding.kind, finding.step) == ("warning", "lr_too_high", 1150)
    assert finding.message.startswith("step 1150, rank 0: logged/val_acc swings around 0.698 by 0.11 (median)")
    assert (
        "on opposite sides in 100% of 24 values; expected below 0.05. Halve the learning rate or use a larger batch."
        in finding.message
    )


def test_percent_are_judged_as_percent():
    assert len(judged([100 * v for v in swinging(32)])) == 1
    assert judged([100 * (0.7 + 0.04 * (-1) ** i) for i in range(64)]) == []


def test_the_end_of_the_run_looks_at_what_no_eighth_value_showed():
    check = MetricOscillation()
    judge, found = Judge({check.slug: check}), []
    for n, value in enumerate(swinging(30)):
        found += judge.judge(StepRef(iteration=n, step=n), {"logged/acc": value})  # no loss beside it: nobody is asked
    assert found == []
    assert len(list(judge.end(StepRef(iteration=30, step=30)))) == 1


@pytest.mark.parametrize(
    "values",
    [
        [1 - math.exp(-n / 20) for n in range(200)],  # a curve that rises
        [0.7 + 0.02 * (-1) ** n for n in range(200)],  # swings of two points
        [0.5 + 0.2 * math.sin(n / 6) for n in range(200)],  # a slow wave
        swinging(23),  # too few
        [-1 * v for v in swinging(64)],  # no share: a reward, a log-likelihood
        [math.nan] * 100,
        [0.5] * 100,
    ],
)
def test_stays_silent(values):
    assert judged(values) == []


def test_noise_that_does_not_alternate_is_silent_however_wide():
    """Accuracy of batches of four at a plateau, 20,000 of them, and an evaluation on ten samples, 400 runs of 60."""
    draw = random.Random(1)
    assert judged([draw.choice((0.25, 0.5, 0.75, 1.0)) for _ in range(20_000)], every=1) == []
    assert [run for run in range(400) if judged([draw.choice((0.5, 0.6, 0.7, 0.8)) for _ in range(60)])] == []


def test_other_series_are_not_its_business():
    assert judged(swinging(64), name="tracked/activation") == []


def test_at_the_threshold_of_the_swing():
    wide = [0.5 + 0.0501 * (-1) ** n for n in range(64)]
    assert len(judged(wide)) == 1
    assert judged(wide, check=MetricOscillation(swing=0.0502)) == []


def test_swing_of_takes_the_trend_away():
    swing = swing_of([n / 100 + 0.2 * (-1) ** n for n in range(40)])
    assert swing.size == pytest.approx(0.2, abs=0.02)
    assert swing.flips == 1.0
    assert swing.lag1 < -0.9


def test_at_the_thresholds_of_sign_changes_of_size_and_of_the_bound_on_the_autocorrelation():
    wide = [0.5 + 0.25 * (-1) ** n for n in range(64)]  # it swings by 0.25 and changes its sign every time
    swing = swing_of(wide[-32:])
    assert (swing.size, swing.flips) == (0.25, 1.0)
    for silent, loud in (({"flips": 1.0}, {"flips": 0.99}), ({"swing": 0.25}, {"swing": 0.249})):
        assert judged(wide, check=MetricOscillation(**silent)) == []
        assert len(judged(wide, check=MetricOscillation(**loud))) == 1
    assert judged(wide, check=MetricOscillation(lag1=-0.999)) == []
    assert judged(wide[:23], check=MetricOscillation()) == []
    assert len(judged(wide[:24], check=MetricOscillation())) == 1
