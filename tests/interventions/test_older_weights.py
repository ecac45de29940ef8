"""The weights of some steps before."""

from __future__ import annotations

from tests.interventions.building import Chain, data, fit, trial
from tests.interventions.parts import HandNorm


def test_a_first_step_has_nothing_older(monkeypatch, tmp_path):
    score = trial(monkeypatch, tmp_path, lambda: fit(Chain(HandNorm()), data(1, bad=0)), "older-weights")
    assert score.refused == "no older state of the weights is kept"
