"""Schedulers, scalers and generators go back to what they were."""

from __future__ import annotations

import torch
from torch import nn

from debugtracer.recorder.state.loop_state import LoopState, parts_of


def test_a_schedule_and_a_scaler_go_back_and_generators_where_asked() -> None:
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 2)
    scaler = torch.amp.GradScaler("cpu", init_scale=8.0)
    scaler.scale(torch.ones(1))
    torch.manual_seed(0)
    state, drawn = LoopState([schedule], [scaler]), torch.rand(3)
    optimizer.step()
    schedule.step()
    parts_of(scaler)["_scale"].fill_(2.0)
    state.restore(generators=False)
    assert schedule.last_epoch == 0
    assert scaler.get_scale() == 8.0
    assert not torch.equal(torch.rand(3), drawn)
    state.restore(generators=True)
    assert torch.equal(torch.rand(3), drawn)


def test_what_is_gone_is_passed_over() -> None:
    model = nn.Linear(2, 1)
    schedule = torch.optim.lr_scheduler.StepLR(torch.optim.SGD(model.parameters(), lr=0.1), 2)
    scaler = torch.amp.GradScaler("cpu")
    state = LoopState([schedule], [scaler])
    del schedule, scaler
    state.restore(generators=False)


def test_a_scaler_that_was_never_used_has_no_parts() -> None:
    assert parts_of(torch.amp.GradScaler("cpu")) == {}
