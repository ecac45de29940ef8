"""Masks of the value of the next state in real loops."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from debugtracer.trace.facts.bootstrap_mask import BootstrapMask
from tests.observers.observing import observed

Target = Callable[[nn.Module, Tensor, Tensor, Tensor], Tensor]


def of_max(net: nn.Module, after: Tensor, reward: Tensor, mask: Tensor) -> Tensor:
    return reward + 0.9 * net(after).max(1)[0] * mask


def of_column(net: nn.Module, after: Tensor, reward: Tensor, mask: Tensor) -> Tensor:
    value = torch.min(net(after)[:, :1], net(after)[:, 1:])
    return (reward[:, None] + 0.9 * mask[:, None] * value).squeeze(1)


def discounted_mask(net: nn.Module, after: Tensor, reward: Tensor, mask: Tensor) -> Tensor:
    return (0.9 * mask) * net(after).amax(1) + reward


def without_mask(net: nn.Module, after: Tensor, reward: Tensor, mask: Tensor) -> Tensor:
    return reward + 0.9 * net(after).amax(1)


def teacher_where_it_is_sure(net: nn.Module, after: Tensor, reward: Tensor, mask: Tensor) -> Tensor:
    return net(after).amax(1) * mask + reward * (1 - mask)


def offset_of_other_numbers(net: nn.Module, after: Tensor, reward: Tensor, mask: Tensor) -> Tensor:
    return reward + nn.Linear(4, 1)(torch.randn(16, 4)).squeeze(1) * mask


def told(out: Path, target: Target) -> list[BootstrapMask]:
    """The facts of a loop over rows of which every fourth counts; the others go on from the state of the next row."""
    torch.manual_seed(0)

    def loop() -> None:
        net = nn.Linear(3, 2)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
        for _ in range(3):
            reward, mask = torch.randn(16), (torch.arange(16) % 4 == 0).float()
            with torch.no_grad():
                before = torch.randn(16, 3)
                after = torch.where(mask[:, None] > 0, torch.randn(16, 3), before.roll(-1, 0))
                wanted = target(net, after, reward, mask)
            optimizer.zero_grad()
            F.mse_loss(net(before)[:, 0], wanted).backward()
            optimizer.step()

    return observed(out, loop, BootstrapMask)


@pytest.mark.parametrize("target", [of_max, of_column, discounted_mask])
def test_the_rows_that_count_are_told(tmp_path: Path, target: Target) -> None:
    found = told(tmp_path, target)
    assert [(fact.ref.step, fact.rows, fact.kept) for fact in found] == [(step, 16, 4) for step in range(3)]
    assert [(fact.kept_again, fact.again) for fact in found] == [(0, 12)] * 3
    assert found[0].masked is not None and "mask" in found[0].masked.code
    assert found[0].frame is not None and "mse_loss" in found[0].frame.code


@pytest.mark.parametrize("target", [without_mask, teacher_where_it_is_sure, offset_of_other_numbers])
def test_other_targets_are_not_told(tmp_path: Path, target: Target) -> None:
    assert told(tmp_path, target) == []
