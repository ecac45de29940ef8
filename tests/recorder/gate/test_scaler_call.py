"""A GradScaler.step in flight: whether it has let its optimizer write."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import nn

from debugtracer.recorder.gate.scaler_call import ScalerCall
from tests.watching import under_watch


def test_a_call_has_not_written_until_its_optimizer_does(tmp_path: Path) -> None:
    assert not ScalerCall().ran
    with under_watch(tmp_path, cost=1.0) as session:
        model, scaler, calls = nn.Linear(2, 1), torch.amp.GradScaler("cpu", init_scale=2.0), []
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        optimizer.register_step_pre_hook(lambda *_: calls.append(session.gate.scaler_call))
        scaler.scale(model(torch.ones(1, 2)).sum()).backward()
        scaler.step(optimizer)
        assert [(call.ran, call.at_rest) for call in calls] == [(True, False)]
        assert session.gate.scaler_call is None
