"""Inner loops and their outer losses."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn.functional import mse_loss

from debugtracer.trace.facts.inner_update import InnerUpdate
from tests.observers.observing import observed

Weights = dict[str, Tensor]


def rows() -> tuple[Tensor, Tensor]:
    x = torch.randn(12, 3)
    return x, x.sum(1, keepdim=True)


def error(model: nn.Module, weights: Weights, x: Tensor, y: Tensor) -> Tensor:
    return mse_loss(functional_call(model, weights, (x,)), y)


def adapt(model: nn.Module, x: Tensor, y: Tensor, rate: float = -0.1, rounds: int = 1) -> Weights:
    weights = dict(model.named_parameters())
    for _ in range(rounds):
        slopes = torch.autograd.grad(error(model, weights, x, y), list(weights.values()), create_graph=True)
        weights = {name: w + rate * g for (name, w), g in zip(weights.items(), slopes, strict=True)}
    return weights


def maml(model: nn.Module) -> Tensor:
    x, y = rows()
    return error(model, adapt(model, x[:5], y[:5], rounds=2), x[5:], y[5:])


def ascent(model: nn.Module) -> Tensor:
    x, y = rows()
    return error(model, adapt(model, x[:5], y[:5], rate=0.1), x[5:], y[5:])


def support_alone(model: nn.Module) -> Tensor:
    x, y = rows()
    known, asked = (x[:5], y[:5]), (x[5:], y[5:])
    assert len(asked)
    return error(model, adapt(model, *known), *known)


def one_set(model: nn.Module) -> Tensor:
    x, y = rows()
    return error(model, adapt(model, x, y), x, y)


def both(model: nn.Module) -> Tensor:
    x, y = rows()
    known, asked = (x[:5], y[:5]), (x[5:], y[5:])
    weights = adapt(model, *known)
    return error(model, weights, *known) + error(model, weights, *asked)


def penalty(model: nn.Module) -> Tensor:
    x, y = rows()
    x.requires_grad_()
    loss = mse_loss(model(x), y)
    (slope,) = torch.autograd.grad(loss, (x,), create_graph=True)
    return loss + 0.1 * mse_loss(model(x + 0.1 * slope), y)


def told(out: Path, loss: Callable[[nn.Module], Tensor]) -> list[InnerUpdate]:
    """The facts of three steps."""
    torch.manual_seed(0)

    def loop() -> None:
        model = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        for _ in range(3):
            optimizer.zero_grad()
            loss(model).backward()
            optimizer.step()

    return observed(out, loop, InnerUpdate)


@pytest.mark.parametrize(
    ("loss", "seen"),
    [
        (maml, (8, 0, 1, 0)), (ascent, (4, 4, 1, 0)), (support_alone, (4, 0, 1, 1)), (one_set, (4, 0, 1, 1)),
        (both, (4, 0, 2, 1)),
    ],
)  # fmt: skip
def test_signs_and_rows_are_told(
    tmp_path: Path, loss: Callable[[nn.Module], Tensor], seen: tuple[int, int, int, int]
) -> None:
    facts = told(tmp_path, loss)
    assert [(one.updates, one.ascending, one.outer, one.same) for one in facts] == [seen] * 3
    assert [one.unread for one in facts] == ([0, 1, 1] if loss is support_alone else [0] * 3)
    assert facts[0].frame is not None and "rate * g" in facts[0].frame.code


def test_a_gradient_of_inputs_is_no_inner_update(tmp_path: Path) -> None:
    assert told(tmp_path, penalty) == []
