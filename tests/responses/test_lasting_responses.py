"""What is kept up for a while ends when it is asked to, and says whether it was still at work."""

from __future__ import annotations

import torch
from torch import nn

from debugtracer.responses.lasting_responses import LastingResponses
from debugtracer.responses.lowered_rate import LoweredRate


def test_each_ends_once() -> None:
    optimizer = torch.optim.SGD(nn.Linear(2, 1).parameters(), lr=0.1)
    kept = LastingResponses()
    kept.keep_lowered([LoweredRate(optimizer)])
    kept.lower_rates("lower-lr", optimizer)
    kept.clip_gradients("clip-harder", optimizer, 1.0)
    kept.use_full_precision(optimizer)
    assert kept.end_lowered_rates() and not kept.end_lowered_rates()
    assert sorted(kept.end_chosen()) == ["clip-harder", "lower-lr"] and kept.end_chosen() == []
    assert kept.end_full_precision() and not kept.end_full_precision()
    kept.end()
    assert not optimizer._optimizer_step_pre_hooks and not optimizer._optimizer_step_post_hooks


def test_a_lowered_scale_is_told_as_it_is_after_the_backoff_of_the_program() -> None:
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**40, backoff_factor=0.5)
    scaler.scale(model(torch.full((1, 2), float("inf"))).sum()).backward()
    scaler.step(optimizer)
    before, now = LastingResponses().lower_scale(scaler, optimizer)
    scaler.update()
    assert (before, now) == (2.0**40, scaler.get_scale())
