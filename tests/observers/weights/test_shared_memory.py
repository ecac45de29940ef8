"""Kept weights: copies and what looks like one."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from debugtracer import session
from debugtracer.trace.facts.shared_memory import SharedMemory
from tests.observers.told import facts
from tests.watching import under_watch


@pytest.fixture(autouse=True)
def _left_alone():
    yield
    session.stop()


def net() -> nn.Module:
    return nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 1))


def train(model: nn.Module, penalty: Callable[[], Any] = lambda: 0.0, steps: int = 4) -> None:
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for _ in range(steps):
        loss = model(torch.randn(8, 4)).square().mean() + penalty()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def seen(tmp_path: Any, program: Callable[[], None]) -> list[SharedMemory]:
    with under_watch(tmp_path):
        torch.manual_seed(0)
        program()
    return facts(tmp_path, SharedMemory)


def best(keep: Callable[[nn.Module], Any], more: int = 3) -> Callable[[], None]:
    def program() -> None:
        model = net()
        train(model)
        kept = keep(model)
        train(model, steps=more) if more else None
        model.load_state_dict(kept)

    return program


def anchored(keep: Callable[[Tensor], Tensor]) -> Callable[[], None]:
    def program() -> None:
        model = net()
        anchors = [keep(p) for p in model.parameters()]
        train(model, lambda: sum((p - a).pow(2).sum() for p, a in zip(model.parameters(), anchors, strict=True)))

    return program


class TwoSteps(torch.optim.Optimizer):
    """The ascent and descent of SAM."""

    def __init__(self, params: Any, clone: bool) -> None:
        super().__init__(params, {"lr": 0.05})
        self.clone = clone

    def first(self) -> None:
        for p in self.param_groups[0]["params"]:
            self.state[p]["kept"] = p.data.clone() if self.clone else p.data
            with torch.no_grad():
                p.add_(0.05 * p.grad.sign())

    def step(self, closure: Any = None) -> None:
        for p in self.param_groups[0]["params"]:
            p.data = self.state[p]["kept"]
            p.data.add_(p.grad, alpha=-0.05)


def perturbed(clone: bool) -> Callable[[], None]:
    def program() -> None:
        model = net()
        optimizer = TwoSteps(model.parameters(), clone)
        for _ in range(4):
            x = torch.randn(8, 4)
            model(x).square().mean().backward()
            optimizer.first()
            optimizer.zero_grad()
            model(x).square().mean().backward()
            optimizer.step()
            optimizer.zero_grad()

    return program


def followed(assign: bool) -> Callable[[], None]:
    def program() -> None:
        model, target = net(), net()
        target.load_state_dict(model.state_dict(), assign=assign)
        for p in target.parameters():
            p.requires_grad_(False)

        def penalty() -> Any:
            with torch.no_grad():
                target(torch.randn(8, 4))
            return 0.0

        train(model, penalty)

    return program


def mixed(keep: Callable[[nn.Module], Any], rounds: int = 4) -> Callable[[], None]:
    """Each round goes on from a mean of the weights before and after it."""

    def program() -> None:
        model = net()
        for _ in range(rounds):
            old = keep(model)
            train(model, steps=2)
            new = model.state_dict()
            model.load_state_dict({name: 0.7 * old[name] + 0.3 * new[name] for name in old})

    return program


def swapped(keep: Callable[[nn.Module], Any]) -> Callable[[], None]:
    """Other weights are loaded for an evaluation, and what was kept after it."""

    def program() -> None:
        model, other = net(), net().state_dict()
        train(model)
        kept = keep(model)
        model.load_state_dict(other)
        model(torch.randn(8, 4))
        model.load_state_dict(kept)
        train(model)

    return program


def written_in_place() -> None:
    """A state is changed through its own tensors, and loaded for good measure."""
    model = net()
    train(model)
    own = model.state_dict()
    for value in own.values():
        value.mul_(0.5)
    model.load_state_dict(own)
    train(model)


def given_back() -> None:
    """The best weights are the last ones, each time, while a state of before is kept for its names."""
    model = net()
    for _ in range(4):
        names = model.state_dict()
        train(model, steps=2)
        best = {name: value.clone() + 1e-3 for name, value in model.state_dict().items()}
        model.load_state_dict({name: best[name] for name in names})


SHARED = {
    "restored": best(lambda m: m.state_dict()),
    "restored a dict of it": best(lambda m: dict(m.state_dict())),
    "unchanged mean": mixed(lambda m: m.state_dict()),
    "exchanged": swapped(lambda m: m.state_dict()),
    "difference": anchored(lambda p: p.data),
    "rescue": perturbed(clone=False),
    "network": followed(assign=True),
}
APART = {
    "deepcopy": best(lambda m: copy.deepcopy(m.state_dict())),
    "clones": best(lambda m: {k: v.clone() for k, v in m.state_dict().items()}),
    "loaded at once": best(lambda m: m.state_dict(), more=0),
    "means of a copy": mixed(lambda m: copy.deepcopy(m.state_dict())),
    "two means": mixed(lambda m: m.state_dict(), rounds=2),
    "swapped with a copy": swapped(lambda m: copy.deepcopy(m.state_dict())),
    "written in place": written_in_place,
    "given back": given_back,
    "anchors": anchored(lambda p: p.detach().clone()),
    "two steps": perturbed(clone=True),
    "target": followed(assign=False),
}


@pytest.mark.parametrize("name", SHARED)
def test_finds_memory_that_is_shared(tmp_path, name):
    (fact,) = seen(tmp_path, SHARED[name])
    assert fact.how == name.split()[0]
    assert fact.count >= (1 if fact.how == "difference" else 4)


@pytest.mark.parametrize("name", APART)
def test_a_copy_is_no_news(tmp_path, name):
    assert not seen(tmp_path, APART[name])


def test_sharing_by_design_is_no_news(tmp_path):
    def program() -> None:
        model = nn.Sequential(nn.Linear(4, 4, bias=False), nn.Tanh(), nn.Linear(4, 4, bias=False))
        model[2].weight = model[0].weight  # tied
        teacher = nn.Sequential(model[0], nn.Tanh(), model[2])  # the same layers

        def straight(w: Tensor) -> Tensor:
            return (w - w.detach()).sum() + (w - w.data).sum() + nn.functional.mse_loss(w, w.detach().view(4, 4))

        def penalty() -> Any:
            with torch.no_grad():
                teacher(torch.randn(8, 4))
            return straight(model[0].weight)

        train(model, penalty)

    assert not seen(tmp_path, program)
