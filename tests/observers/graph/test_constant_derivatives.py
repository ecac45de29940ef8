"""Derivatives without a graph inside residuals of real loops."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from debugtracer.trace.facts.constant_term import ConstantTerm
from tests.observers.told import facts, findings
from tests.watching import under_watch

Loss = Callable[[nn.Module, Tensor], Tensor]


def slope(model: nn.Module, x: Tensor, graph: bool = False) -> tuple[Tensor, Tensor, Tensor]:
    x = x.clone().requires_grad_()
    value = model(x)
    return x, value, torch.autograd.grad(value.sum(), x, create_graph=graph, retain_graph=True)[0]


def residual(model: nn.Module, x: Tensor) -> Tensor:
    _, value, along = slope(model, x)
    return (along[:, :1] + 2 * value).pow(2).mean() + model(x).abs().mean()


def in_place(model: nn.Module, x: Tensor) -> Tensor:
    _, value, along = slope(model, x)
    rest = along.sum(1, keepdim=True)
    rest += value
    return nn.MSELoss()(rest, torch.zeros_like(rest))


def compared(model: nn.Module, x: Tensor) -> Tensor:
    _, value, along = slope(model, x)
    return 0.5 * F.mse_loss(along[:, :1], -2 * value)


def second(model: nn.Module, x: Tensor) -> Tensor:
    x, value, along = slope(model, x, graph=True)
    bend = torch.autograd.grad(along.sum(), x, retain_graph=True)[0]
    return (value - 0.1 * bend[:, :1] * 2).square().sum() / len(x)


def of_columns(model: nn.Module, x: Tensor) -> Tensor:
    """The input is a part of a tensor."""
    both = x.clone().requires_grad_()
    time, rest = both[:, :1], both[:, 1:]
    value = model(torch.cat([time, rest], 1))
    (along,) = torch.autograd.grad(value, time, torch.ones_like(value), retain_graph=True)
    return (along + value).square().mean()


def turned(model: nn.Module, x: Tensor) -> Tensor:
    """A matrix that nobody trains turns the derivative before it is added."""
    _, value, along = slope(model, x)
    return (along @ torch.ones(4, 1) + value).square().mean()


def contracted(model: nn.Module, x: Tensor) -> Tensor:
    _, value, along = slope(model, x)
    return F.mse_loss(torch.einsum("bi,ij->bj", along, torch.ones(4, 1)) - value, torch.zeros(6, 1))


def by_trained_weights(model: nn.Module, x: Tensor) -> Tensor:
    """The derivative is the input of a layer."""
    _, value, along = slope(model, x)
    return (value + along @ model[0].weight.T[:, :1]).square().mean()


def graph(model: nn.Module, x: Tensor) -> Tensor:
    _, value, along = slope(model, x, graph=True)
    return (along[:, :1] + 2 * value).pow(2).mean()


def attack(model: nn.Module, x: Tensor) -> Tensor:
    x, value, along = slope(model, x)
    return value.square().mean() + model(x + 0.1 * along.sign()).square().mean()


def attack_inside(model: nn.Module, x: Tensor) -> Tensor:
    """The perturbation is added to what the first layer made."""
    hidden = model[0](x)
    shift = torch.zeros_like(hidden, requires_grad=True)
    along = torch.autograd.grad(model[1:](hidden.detach() + shift).sum(), shift)[0]
    return model[1:](hidden + 0.1 * along).square().mean()


def shifted_rows(model: nn.Module, x: Tensor) -> Tensor:
    """Adversarial ranking: the perturbation is added to what is scored by arithmetic alone."""
    rows = model[0](x)
    shift = torch.zeros_like(rows, requires_grad=True)
    scores = (rows + shift).square().sum(1)
    along = torch.autograd.grad(scores.sum(), shift, retain_graph=True)[0]
    return F.softplus(-(rows + 0.1 * along).square().sum(1)).mean() + model(x).square().mean()


def adapted(model: nn.Module, x: Tensor) -> Tensor:
    """A first-order inner step over parameters, and over a code."""
    weight = model[0].weight
    along = torch.autograd.grad(model(x).square().mean(), weight)[0]
    code = torch.zeros(4, requires_grad=True)
    of_code = torch.autograd.grad(model(x + code).sum(), code)[0]
    hidden = F.linear(x + (code - 0.1 * of_code), weight - 0.1 * along, model[0].bias)
    return model[1:](hidden).square().mean() + (weight - 0.1 * along).square().sum()


def on_purpose(model: nn.Module, x: Tensor) -> Tensor:
    _, value, along = slope(model, x)
    with torch.no_grad():
        aim = 1.0 + along.sum(1, keepdim=True)
    return (value - aim).square().mean() + (value - along[:, :1].detach()).square().mean()


def aim_of_a_loss(model: nn.Module, x: Tensor) -> Tensor:
    _, value, along = slope(model, x)
    return F.mse_loss(value, 1.0 + along[:, :1])


def of_a_teacher(model: nn.Module, x: Tensor) -> Tensor:
    _, _, along = slope(deepcopy(model), x)
    return (model(x) - along[:, :1]).square().mean()


def distilled(model: nn.Module, x: Tensor) -> Tensor:
    _, value, along = slope(model, x)
    return value.square().mean() + (along[:, :1] * model(x)).mean()


def logged(model: nn.Module, x: Tensor) -> Tensor:
    _, value, along = slope(model, x)
    (along[:, :1] + value).square().mean().item()
    return value.square().mean()


def weighed(model: nn.Module, x: Tensor) -> Tensor:
    _, value, along = slope(model, x)
    return (value / (1 + along.norm(dim=1, keepdim=True))).square().mean()


def of_the_last_layer(model: nn.Module, x: Tensor) -> Tensor:
    """A gradient after what trained parameters made."""
    hidden = model[:2](x)
    value = model[2](hidden)
    along = torch.autograd.grad(value.sum(), hidden, retain_graph=True)[0]
    return (hidden - along).square().mean() + value.square().mean()


def run(out: Path, loss_of: Loss) -> list[ConstantTerm]:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with under_watch(out):
        for _ in range(4):
            optimizer.zero_grad()
            loss_of(model, torch.randn(6, 4)).backward()
            optimizer.step()
    return [fact for fact in facts(out, ConstantTerm) if fact.mixed]


@pytest.mark.parametrize("loss_of", [residual, in_place, compared, second, of_columns, turned, contracted])
def test_a_derivative_without_a_graph_inside_a_residual(tmp_path: Path, loss_of: Loss):
    found = run(tmp_path, loss_of)
    assert [f.ref.step for f in found] == [0, 1, 2]
    for fact in found:
        assert fact.frame is not None and "autograd.grad" in fact.frame.code
        assert fact.sum_frame is not None and fact.sum_frame.function == loss_of.__name__
    assert len(findings(tmp_path, "penalty-constant")) == 1


@pytest.mark.parametrize(
    "loss_of",
    [
        graph, attack, attack_inside, shifted_rows, adapted, on_purpose, aim_of_a_loss, of_a_teacher, distilled, logged,
        weighed, of_the_last_layer, by_trained_weights,
    ],
)  # fmt: skip
def test_gradients_that_are_meant_as_constants_are_silent(tmp_path: Path, loss_of: Loss):
    assert run(tmp_path, loss_of) == []


def test_a_target_that_flows_along_the_gradient_of_a_critic_is_silent(tmp_path: Path):
    torch.manual_seed(0)
    maker, critic = nn.Linear(2, 4), nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
    optimizers = [torch.optim.Adam(m.parameters(), lr=1e-3) for m in (maker, critic)]
    with under_watch(tmp_path):
        for _ in range(4):
            made = maker(torch.randn(6, 2))
            moved = made.detach().requires_grad_()
            along = torch.autograd.grad(critic(moved).sum(), moved)[0]
            for optimizer in optimizers:
                optimizer.zero_grad()
            ((made - (moved + along)) ** 2).mean().backward()
            optimizers[0].step()
            critic(made.detach()).mean().backward()
            optimizers[1].step()
    assert facts(tmp_path, ConstantTerm) == []
