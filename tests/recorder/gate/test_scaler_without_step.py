"""A window that is left out leaves the scale of a GradScaler and its count of good steps as they were."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from debugtracer.recorder.gate.scaler_without_step import leave_out_of_scaler


@pytest.mark.parametrize("unscaled", [False, True])
def test_scale_and_count_stay(unscaled: bool) -> None:
    torch.manual_seed(0)
    model = nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cpu", init_scale=8.0, growth_interval=3)
    for _ in range(2):
        scaler.scale(model(torch.randn(2, 3)).mean()).backward()
        scaler.step(optimizer)
        scaler.update()
    scaler.scale(model(torch.full((2, 3), float("nan"))).mean()).backward()
    if unscaled:
        scaler.unscale_(optimizer)
    optimizer.zero_grad(set_to_none=False)
    leave_out_of_scaler(scaler, optimizer)
    scaler.update()
    assert scaler.get_scale() == 8.0
    assert scaler._get_growth_tracker() == 2
