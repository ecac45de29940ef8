"""The same step in float64 on the CPU."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from tests.interventions.building import Chain, data, fit, trial
from tests.interventions.parts import Half, HandNorm


class Cubed(nn.Module):
    """A float32 that passes its range: 1e13 cubed."""

    def forward(self, x: Tensor) -> Tensor:
        return (x.float() ** 3).pow(1 / 3)


def test_a_range_passed_in_float32_and_in_half_holds_in_float64(monkeypatch, tmp_path):
    for part, value in ((Cubed(), 1e13), (Half(), 3e3)):
        score = trial(
            monkeypatch,
            tmp_path / str(value),
            lambda part=part, value=value: fit(Chain(part), data(value=value)),
            "reference-device",
        )
        assert (score.finite, score.refused, score.change) == (True, "", "the whole step on the CPU in float64")
        assert score.loss is not None and score.grad_l2 is not None and score.probe_loss is not None


def test_zero_by_zero_stays_what_it_is(monkeypatch, tmp_path):
    score = trial(monkeypatch, tmp_path, lambda: fit(Chain(HandNorm()), data()), "reference-device")
    assert (score.finite, score.refused) == (False, "")


def test_a_step_in_float64_on_the_cpu_has_no_other_reference(monkeypatch, tmp_path):
    given = [x.double() for x in data()]
    score = trial(monkeypatch, tmp_path, lambda: fit(Chain(HandNorm()).double(), given), "reference-device")
    assert score.refused == "the step was computed on the CPU in float64"


def test_the_default_dtype_is_back(monkeypatch, tmp_path):
    trial(monkeypatch, tmp_path, lambda: fit(Chain(HandNorm()), data()), "reference-device")
    assert torch.get_default_dtype() is torch.float32
