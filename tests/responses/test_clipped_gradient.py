"""Gradients of no more than a norm, for so many steps."""

from __future__ import annotations

import torch

from debugtracer.responses.clipped_gradient import ClippedGradient


def test_larger_gradients_are_scaled_down_and_smaller_ones_left_until_it_ends() -> None:
    parameter = torch.nn.Parameter(torch.zeros(4))
    optimizer = torch.optim.SGD([parameter], lr=1.0)
    clipped = ClippedGradient(optimizer, 2.0, steps=2)
    moved = []
    for size in (8.0, 0.5, 8.0):
        before = parameter.detach().clone()
        parameter.grad = torch.full((4,), size / 2)  # of this norm
        optimizer.step()
        moved.append(round(float((parameter.detach() - before).norm()), 5))
    assert moved == [2.0, 0.5, 8.0] and clipped.handles == []
