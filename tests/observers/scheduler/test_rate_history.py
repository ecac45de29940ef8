"""The fact of a rate's way."""

from __future__ import annotations

import torch
from torch import nn

from debugtracer.observers.scheduler.rate_history import rate_history
from debugtracer.observers.scheduler.schedule_state import ScheduleState


def test_a_rate_that_never_moved_has_no_history():
    optimizer = torch.optim.SGD(nn.Linear(2, 1).parameters(), lr=0.1)
    state = ScheduleState(0)
    assert rate_history(None, optimizer, state, None, None, None) is None
    state.high = 0.1
    assert rate_history(None, optimizer, state, None, None, None) is None
