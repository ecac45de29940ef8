"""The batch of the last healthy step."""

from __future__ import annotations

from tests.interventions.building import Chain, data, fit, trial
from tests.interventions.parts import HandNorm


def test_the_batch_before_heals_what_goes_with_the_batch(monkeypatch, tmp_path):
    score = trial(monkeypatch, tmp_path, lambda: fit(Chain(HandNorm()), data()), "other-batch")
    assert (score.finite, score.change) == (True, "the batch of the last healthy step")


def test_the_first_step_has_none(monkeypatch, tmp_path):
    assert (
        trial(monkeypatch, tmp_path, lambda: fit(Chain(HandNorm()), data(1, bad=0)), "other-batch").refused
        == "no batch of a healthy step is kept"
    )
