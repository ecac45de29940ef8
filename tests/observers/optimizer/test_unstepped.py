"""Optimizers that never step: told where the weights stand, not where the loop or another optimizer writes them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.optim import Optimizer

from debugtracer.observers.optimizer.unstepped import CHANGES, UNSTEPPED, Unstepped
from debugtracer.trace.facts.order import NoStep
from tests.observers.loops import data, mse, net
from tests.observers.observing import observed


class OverMasters(Optimizer):
    """Float32 copies of bfloat16 parameters, stepped by an optimizer inside, as Apex does."""

    def __init__(self, parameters: list[nn.Parameter]) -> None:
        super().__init__(parameters, {"lr": 0.1})
        self.masters = [p.detach().float().clone().requires_grad_() for p in parameters]
        self.inner = torch.optim.SGD(self.masters, lr=0.1)

    def zero_grad(self, set_to_none: bool = True) -> None:
        super().zero_grad(set_to_none)
        self.inner.zero_grad(set_to_none)

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:
        held = self.param_groups[0]["params"]
        for master, p in zip(self.masters, held, strict=True):
            master.grad = p.grad.float()
        self.inner.step()
        for master, p in zip(self.masters, held, strict=True):
            p.copy_(master)


class Sharded:
    """Not an Optimizer: steps one flat copy of what another one holds, as ZeRO does."""

    def __init__(self, held: Optimizer) -> None:
        self.held = held
        self.flat = torch.cat([p.detach().reshape(-1) for p in self.parameters()]).requires_grad_()
        self.inner = torch.optim.SGD([self.flat], lr=0.1)

    def parameters(self) -> list[nn.Parameter]:
        return list(self.held.param_groups[0]["params"])

    def step(self) -> None:
        self.flat.grad = torch.cat([p.grad.reshape(-1) for p in self.parameters()])
        self.inner.step()
        parts = self.flat.detach().split([p.numel() for p in self.parameters()])
        for p, part in zip(self.parameters(), parts, strict=True):
            p.data.copy_(part.view_as(p))


def over_masters(steps: int) -> None:
    model = net().bfloat16()
    optimizer = OverMasters(list(model.parameters()))
    for x, y in data(steps):
        optimizer.zero_grad()
        mse(model(x.bfloat16()), y.bfloat16()).backward()
        optimizer.step()


def sharded(steps: int) -> None:
    model = net()
    held = torch.optim.SGD(model.parameters(), lr=0.1)
    outer = Sharded(held)
    for x, y in data(steps):
        held.zero_grad()
        mse(model(x), y).backward()
        outer.step()


def by_the_loop(steps: int) -> None:
    model = net()
    clears = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in data(steps):
        clears.zero_grad()
        mse(model(x), y).backward()
        with torch.no_grad():
            for p in model.parameters():
                p -= 0.01 * p.grad


def forgotten(steps: int) -> None:
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in data(steps):
        optimizer.zero_grad()
        mse(model(x), y).backward()


@pytest.mark.parametrize("steps", [3, 8, 60])
@pytest.mark.parametrize("loop", [over_masters, sharded, by_the_loop])
def test_weights_that_change_without_a_step_are_no_forgotten_step(loop, steps: int, tmp_path: Path) -> None:
    assert observed(tmp_path / "runs", lambda: loop(steps), NoStep) == []


@pytest.mark.parametrize(("steps", "told"), [(8, [8]), (60, [50, 60])])
def test_weights_that_stand_are_one(steps: int, told: list[int], tmp_path: Path) -> None:
    facts = observed(tmp_path / "runs", lambda: forgotten(steps), NoStep)
    assert [fact.backwards for fact in facts] == told
    assert facts[-1].zeroed == steps - 1


def test_one_change_begins_the_count_anew() -> None:
    weight, never = torch.ones(4), Unstepped()
    assert [never.count([weight], ()) for _ in range(3)] == [False] * 3
    weight.mul_(2)  # a clamp, an initialisation
    assert [n for n in range(1, 200) if never.count([weight], ())] == [
        1 + UNSTEPPED,
        1 + 2 * UNSTEPPED,
        1 + 3 * UNSTEPPED,
    ]


def test_after_two_changes_others_are_known_to_write() -> None:
    weight, never = torch.ones(4), Unstepped()
    for _ in range(UNSTEPPED):
        assert not never.count([weight], ())
        weight.mul_(1.5)
    assert never.changes == CHANGES
    assert not never.left()
