"""Smooth activations in the place of the step's own."""

from __future__ import annotations

from torch import Tensor, nn

from tests.interventions.building import Chain, data, fit, trial
from tests.interventions.parts import HandNorm


class Exponential(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.exp()


def test_an_exponential_that_explodes_becomes_softplus(monkeypatch, tmp_path):
    score = trial(monkeypatch, tmp_path, lambda: fit(Chain(Exponential()), data(value=60.0)), "other-activation")
    assert (score.finite, score.change) == (True, "gelu in place of relu, softplus in place of exp")


def test_a_step_without_any_is_refused(monkeypatch, tmp_path):
    score = trial(monkeypatch, tmp_path, lambda: fit(HandNorm(), data()), "other-activation")
    assert score.refused == "the step calls no activation that has a smooth counterpart"
