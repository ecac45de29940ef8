"""The fact of a rate that stays."""

from __future__ import annotations

import torch
from torch import nn

from debugtracer.observers.scheduler.kept_rate import kept_rate
from debugtracer.observers.scheduler.schedule_state import ScheduleState


def test_a_rate_without_a_schedule_is_no_kept_one():
    optimizer = torch.optim.SGD(nn.Linear(2, 1).parameters(), lr=0.1)
    state = ScheduleState(0)
    state.high = state.peak = 0.01
    assert kept_rate(None, optimizer, state, None, 0) is None
