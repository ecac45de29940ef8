"""Targets without a mask in real loops."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

from debugtracer.trace.facts.unmasked_bootstrap import UnmaskedBootstrap
from tests.observers.observing import observed

Target = Callable[[nn.Module, Tensor, Tensor, Tensor], Tensor]
ENDS = torch.arange(16) % 4 == 0


def of_max(net: nn.Module, after: Tensor, reward: Tensor, done: Tensor) -> Tensor:
    return reward + 0.9 * net(after).max(1).values


def of_column(net: nn.Module, after: Tensor, reward: Tensor, done: Tensor) -> Tensor:
    return (reward[:, None] + torch.tensor(0.9) * torch.min(net(after)[:, :1], net(after)[:, 1:])).squeeze(1)


def prepared_and_forgotten(net: nn.Module, after: Tensor, reward: Tensor, done: Tensor) -> Tensor:
    done.float().unsqueeze(1)
    return reward + net(after).amax(1) * 0.9


def factor(net: nn.Module, after: Tensor, reward: Tensor, done: Tensor) -> Tensor:
    return reward + 0.9 * net(after).amax(1) * ~done


def discount(net: nn.Module, after: Tensor, reward: Tensor, done: Tensor) -> Tensor:
    return reward + (0.9 * (1 - done.float())) * net(after).amax(1)


def where(net: nn.Module, after: Tensor, reward: Tensor, done: Tensor) -> Tensor:
    return torch.where(done, reward, reward + 0.9 * net(after).amax(1))


def indexed(net: nn.Module, after: Tensor, reward: Tensor, done: Tensor) -> Tensor:
    best = torch.zeros(16)
    best[~done] = net(after[~done]).amax(1)
    return reward + 0.9 * best


def written(net: nn.Module, after: Tensor, reward: Tensor, done: Tensor) -> Tensor:
    best = net(after).amax(1)
    best.view(-1, 1)[ENDS] = 0.0
    return reward + 0.9 * best


def discounts_of_rows(net: nn.Module, after: Tensor, reward: Tensor, done: Tensor) -> Tensor:
    return reward + torch.where(ENDS, 0.0, 0.9) * net(after).amax(1)


def told(out: Path, target: Target) -> list[UnmaskedBootstrap]:
    """The facts of a loop over rows of which every fourth ends far away."""
    torch.manual_seed(0)

    def loop() -> None:
        net = nn.Linear(3, 2)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
        before = torch.rand(48, 3)
        after = torch.where(ENDS.repeat(3)[:, None], torch.tensor(2.0), before / 2 + 0.25)
        data = TensorDataset(before, torch.randn(48), after, ENDS.repeat(3))
        for before, reward, after, done in DataLoader(data, 16):
            with torch.no_grad():
                wanted = target(net, after, reward, done)
            optimizer.zero_grad()
            F.mse_loss(net(before)[:, 0], wanted).backward()
            optimizer.step()

    return observed(out, loop, UnmaskedBootstrap)


@pytest.mark.parametrize("target", [of_max, of_column, prepared_and_forgotten])
def test_targets_without_a_mask_are_told(tmp_path: Path, target: Target) -> None:
    found = told(tmp_path, target)
    assert [(one.ref.step, one.rows, one.marked, one.marked_beyond, one.marked_new) for one in found] == [
        (step, 16, 4, 4, 4) for step in range(3)
    ]
    assert found[0].added is not None and "reward" in found[0].added.code
    assert found[0].frame is not None and "mse_loss" in found[0].frame.code


@pytest.mark.parametrize("target", [factor, discount, where, indexed, written, discounts_of_rows])
def test_masks_are_not_told(tmp_path: Path, target: Target) -> None:
    assert told(tmp_path, target) == []


def test_a_weight_of_the_rows_is_a_reading(tmp_path: Path) -> None:
    def loop() -> None:
        net = nn.Linear(3, 1)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
        for _ in range(3):
            before, after, done = torch.rand(16, 3), torch.rand(16, 3) + 2, torch.tensor(ENDS.tolist())
            with torch.no_grad():
                wanted = torch.ones(16, 1) + 0.9 * net(after)
            optimizer.zero_grad()
            ((net(before) - wanted) ** 2 * ~done[:, None]).mean().backward()
            optimizer.step()

    assert observed(tmp_path, loop, UnmaskedBootstrap) == []
