"""The batch repaired."""

from __future__ import annotations

import math

from tests.interventions.building import Chain, data, fit, trial
from tests.interventions.parts import HandNorm, Odd


def test_what_is_not_finite_or_out_of_range_is_replaced(monkeypatch, tmp_path):
    for value in (math.nan, math.inf, 1e30):
        score = trial(
            monkeypatch,
            tmp_path / str(value),
            lambda value=value: fit(Chain(HandNorm()), data(value=value)),
            "sanitised-batch",
        )
        assert (score.finite, score.change) == (
            True,
            "4 values of the batch repaired (NaN to 0, others into the range of the last healthy batch)",
        ), score


def test_a_batch_like_the_last_one_is_refused(monkeypatch, tmp_path):
    def loop() -> None:
        given = data(4, bad=None)
        given[2] = given[1].clone()
        fit(Chain(Odd()), given, loss=lambda out: out.mean() + out.detach().mul(0).sum().log() * 0)

    score = trial(monkeypatch, tmp_path, loop, "sanitised-batch")
    assert score.refused in (
        "nothing of the batch is non-finite or outside the range of the last healthy one",
        "no input of the step has the rows of a batch",
    )
