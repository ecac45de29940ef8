"""Twice the rows, and what the two sizes tell of the noise."""

from __future__ import annotations

import math

import pytest

from debugtracer.interventions.larger_batch import noise_scale, noise_words
from tests.interventions.building import Chain, at_the_incident, data, fit, made
from tests.interventions.parts import HandNorm


def test_the_batch_and_the_one_before_go_through_together(monkeypatch, tmp_path):
    scores = []
    loop = lambda: fit(Chain(HandNorm()), data())  # noqa: E731
    at_the_incident(monkeypatch, tmp_path, loop, lambda trials: scores.append(trials.run(made("larger-batch"))))
    assert (scores[0].refused, scores[0].finite) == ("", False)
    assert scores[0].change.startswith("12 rows: this batch and that of the last healthy step")


def test_a_first_step_has_no_batch_before_it(monkeypatch, tmp_path):
    scores = []
    at_the_incident(
        monkeypatch,
        tmp_path,
        lambda: fit(Chain(HandNorm()), data(1, bad=0)),
        lambda trials: scores.append(trials.run(made("larger-batch"))),
    )
    assert scores[0].refused == "not every input of the step has a counterpart in the last healthy step"


def test_the_noise_scale_is_that_of_gradients_with_a_known_one():
    signal, noise = 4.0, 80.0  # |G|^2 and tr(Sigma): E|g_B|^2 = |G|^2 + tr(Sigma) / B
    norm = {rows: (signal + noise / rows) ** 0.5 for rows in (8, 16)}
    assert noise_scale(norm[8], 8, norm[16], 16) == pytest.approx(20.0)
    assert noise_words(norm[8], 8, norm[16], 16) == "gradient-noise scale about 20 rows (one estimate; noisy)"
    assert noise_scale(1.0, 8, 2.0, 16) is None


@pytest.mark.parametrize(
    ("small", "rows", "large", "both"),
    [
        (2.0, 4, 1.0, 16),  # no signal: the norm falls as that of noise alone does
        (2.0, 8, 2.0, 16),  # no noise: both batches have the same gradient
        (3.0, 4, 1.0, 16),  # a signal below 0
        (1.0, 8, 1.5, 16),  # noise below 0
        (math.inf, 8, 1.0, 16),
        (1.0, 8, math.nan, 16),
    ],
)
def test_there_is_no_noise_scale_without_noise_and_signal(small, rows, large, both):
    assert noise_scale(small, rows, large, both) is None
    assert noise_words(small, rows, large, both).endswith("cannot be told from gradients of two sizes of batch")


def test_without_a_usual_norm_nothing_is_computed():
    assert noise_words(None, 8, 1.0, 16).endswith("cannot be told from gradients of two sizes of batch")
