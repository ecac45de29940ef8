"""Autocast is without effect for a number of written updates, and then as before."""

from __future__ import annotations

import torch

from debugtracer.responses.full_precision_segment import SEGMENT, FullPrecisionSegment


def working_dtype(context: torch.autocast) -> torch.dtype:
    with context:
        return torch.mm(torch.ones(2, 2), torch.ones(2, 2)).dtype


def test_it_ends_by_itself_after_so_many_updates() -> None:
    entered = torch.autocast.__enter__
    weight = torch.zeros(1, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=0.1)
    kept = torch.autocast("cpu", dtype=torch.float16)  # one that the program enters again and again
    segment = FullPrecisionSegment(optimizer)
    for _ in range(SEGMENT):
        assert segment.active and working_dtype(kept) is torch.float32
        weight.grad = torch.ones(1)
        optimizer.step()
    assert not segment.active and working_dtype(kept) is torch.float16
    assert torch.autocast.__enter__ is entered and not optimizer._optimizer_step_post_hooks


def test_it_can_be_ended_before() -> None:
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.1)
    segment = FullPrecisionSegment(optimizer)
    segment.end()
    segment.end()
    assert not segment.active and working_dtype(torch.autocast("cpu", dtype=torch.float16)) is torch.float16
