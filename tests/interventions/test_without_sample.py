"""The guilty rows overwritten."""

from __future__ import annotations

from tests.interventions.building import Chain, data, fit, trial
from tests.interventions.parts import HandNorm


def test_the_guilty_row_is_replaced_by_a_healthy_one(monkeypatch, tmp_path):
    score = trial(monkeypatch, tmp_path, lambda: fit(Chain(HandNorm()), data()), "without-sample")
    assert (score.finite, score.change) == (True, "row 2 replaced by row 0")


def test_a_batch_that_is_guilty_altogether_is_refused(monkeypatch, tmp_path):
    given = data()
    given[2][:] = 0.0
    score = trial(monkeypatch, tmp_path, lambda: fit(Chain(HandNorm()), given), "without-sample")
    assert score.refused == "every row of the batch is guilty"
