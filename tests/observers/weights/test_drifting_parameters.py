"""Numbers that are trained beside the layers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from debugtracer.trace.facts.drifting_parameter import DriftingParameter
from tests.observers.observing import facts
from tests.watching import under_watch


class Tasks(nn.Module):
    """Two tasks that weigh themselves."""

    def __init__(self, sign: float) -> None:
        super().__init__()
        self.body, self.sign = nn.Linear(3, 2), sign
        self.scales = nn.Parameter(torch.zeros(2))

    def forward(self, x: Tensor) -> Tensor:
        total = torch.zeros(())
        for scale, loss in zip(self.scales, (self.body(x) - 1).square().mean(0), strict=True):
            total = total + torch.exp(self.sign * scale) * loss + scale
        return total


def trained(folder: Path, model: nn.Module, steps: int = 240, lr: float = 0.2, extra: Any = ()) -> list[Any]:
    torch.manual_seed(0)
    optimizer = torch.optim.SGD([*model.parameters(), *extra], lr=lr)
    with under_watch(folder, inspect_steps=20, cost=100.0):
        for _ in range(steps):
            loss = model(torch.randn(16, 3)).sum() + sum(e.sum() for e in extra)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return facts(folder, DriftingParameter)


def test_a_scale_without_a_best_value_takes_the_loss_along(tmp_path: Path):
    (fact,) = trained(tmp_path, Tasks(1.0))
    assert (fact.name, fact.numbers, fact.first) == ("scales", 2, 0.0)
    assert fact.last < -16
    assert fact.kept > 0.95
    assert 0.9 < fact.explained / fact.fall < 1.1
    assert fact.loss < -32
    assert fact.frame is not None
    assert "torch.exp(self.sign * scale)" in fact.frame.code


def test_one_that_no_model_holds_is_followed_too(tmp_path: Path):
    (fact,) = trained(tmp_path, nn.Linear(3, 1), extra=[nn.Parameter(torch.zeros(1))])
    assert fact.name == ""


def test_a_scale_that_comes_to_rest_and_a_layer_are_no_news(tmp_path: Path):
    assert trained(tmp_path / "rest", Tasks(-1.0)) == []
    assert trained(tmp_path / "layer", nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 1))) == []


def test_a_short_run_says_nothing(tmp_path: Path):
    assert trained(tmp_path, Tasks(1.0), steps=80) == []
