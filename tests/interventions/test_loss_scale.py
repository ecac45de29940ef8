"""A smaller loss scale."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from tests.interventions.building import Chain, data, fit, trial
from tests.interventions.parts import HandNorm


def scaled_loop(times: float):
    """Gradients that pass float16 when the loss is this many times larger, at a scale of 1."""

    def loop() -> None:
        torch.manual_seed(0)
        model = nn.Linear(4, 2)
        optimizer, scaler = torch.optim.SGD(model.parameters(), lr=1e-9), torch.amp.GradScaler("cpu", init_scale=1.0)
        for step, x in enumerate(data(bad=None)):
            optimizer.zero_grad()
            with torch.autocast("cpu", torch.float16):
                out = model(x)
            loss: Tensor = out.float().mean() * (times if step == 2 else 1.0)
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()

    return loop


def test_what_overflows_only_when_scaled_is_healed_by_the_number_of_halvings_that_is_said(monkeypatch, tmp_path):
    score = trial(monkeypatch, tmp_path, scaled_loop(1.2e6), "loss-scale")
    assert score.change == "the loss scale 1 halved 4 times: 0.0625"
    assert score.grad_l2 is not None and score.finite
    assert trial(monkeypatch, tmp_path / "2", scaled_loop(1.2e6), "unchanged").finite is False


def test_a_step_without_a_scaler_is_refused(monkeypatch, tmp_path):
    assert (
        trial(monkeypatch, tmp_path, lambda: fit(Chain(HandNorm()), data()), "loss-scale").refused
        == "the step uses no GradScaler"
    )
