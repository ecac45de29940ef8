"""A lowered scale stays for a while, then grows as the program has set it."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from debugtracer.responses.held_scale import HELD, HeldScale


@pytest.mark.parametrize(("before", "now"), [(2.0**34, 2.0**16), (2.0**16, 2.0**11), (16.0, 1.0)])
def test_it_is_lowered_held_and_grows_again(before: float, now: float) -> None:
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    scaler = torch.amp.GradScaler("cpu", init_scale=before, growth_interval=2)
    factors = scaler.get_growth_factor(), scaler.get_backoff_factor(), scaler.get_growth_interval()
    seen = []
    held: HeldScale | None = None
    for _ in range(HELD + 2):
        scaler.scale(model(torch.ones(1, 2)).sum()).backward()
        held = held or HeldScale(scaler, optimizer)
        optimizer.zero_grad()
        scaler.scale(model(torch.ones(1, 2)).sum()).backward()
        scaler.step(optimizer)
        scaler.update()
        seen.append(scaler.get_scale())
    assert held is not None and (held.before, held.now) == (before, now)
    assert set(seen[:HELD]) == {now} and seen[-1] == 2 * now
    assert not held.handles
    assert factors == (scaler.get_growth_factor(), scaler.get_backoff_factor(), scaler.get_growth_interval())
