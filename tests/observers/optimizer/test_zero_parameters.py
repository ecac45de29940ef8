"""Parameters that are 0 and stay so, in real loops."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor, nn

from debugtracer.trace.facts.zero_parameters import ZeroParameters
from tests.observers.loops import data, mse, plain
from tests.observers.observing import observed


class Gated(nn.Module):
    def __init__(self, function: Callable[[Tensor], Tensor], start: float = 0.0) -> None:
        super().__init__()
        self.function = function
        self.main, self.side = nn.Linear(4, 3), nn.Linear(4, 3)
        self.gate = nn.Parameter(torch.full((3,), start))
        self.out = nn.Linear(3, 1)

    def forward(self, x: Tensor) -> Tensor:
        return self.out(self.main(x) + self.function(self.gate) * self.side(x))


def gated(function: Callable[[Tensor], Tensor], start: float = 0.0, steps: int = 10) -> Callable[[], None]:
    def loop() -> None:
        torch.manual_seed(0)
        model = Gated(function, start)
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
        for x, y in data(steps):
            optimizer.zero_grad()
            mse(model(x), y).backward()
            optimizer.step()

    return loop


def test_a_gate_behind_a_relu_is_seen_with_what_lies_behind_it(tmp_path: Path):
    facts = observed(tmp_path / "runs", gated(torch.relu), ZeroParameters)
    assert [(f.updates, f.looks, f.stuck_count, f.behind_count) for f in facts] == [
        (1, 1, 1, 2), (2, 2, 1, 2), (4, 3, 1, 2), (8, 4, 1, 2),
    ]  # fmt: skip
    gate = facts[-1].stuck[0]
    assert (gate.name, gate.flat, facts[-1].behind[0], facts[-1].live) == ("gate", "relu", "side.weight", 4)
    assert gate.made is not None and gate.made.code == "self.gate = nn.Parameter(torch.full((3,), start))"
    assert gate.used is not None and "self.function(self.gate)" in gate.used.code


def test_a_square_is_flat_too(tmp_path: Path):
    assert observed(tmp_path / "runs", gated(torch.square), ZeroParameters)[-1].stuck[0].flat == "pow"


def test_a_gate_with_a_slope_a_start_above_0_and_plain_layers_say_nothing(tmp_path: Path):
    assert observed(tmp_path / "tanh", gated(torch.tanh), ZeroParameters) == []
    assert observed(tmp_path / "above", gated(torch.relu, 0.1), ZeroParameters) == []
    assert observed(tmp_path / "plain", lambda: plain(6, torch.optim.Adam), ZeroParameters) == []


def test_two_factors_are_stuck_and_not_flat(tmp_path: Path):
    def loop() -> None:
        torch.manual_seed(0)
        base, down, up = nn.Linear(4, 1), nn.Parameter(torch.zeros(4, 4)), nn.Parameter(torch.zeros(4, 1))
        optimizer = torch.optim.SGD([*base.parameters(), down, up], lr=0.01)
        for x, y in data(5):
            optimizer.zero_grad()
            mse(base(x) + x @ down @ up, y).backward()
            optimizer.step()

    last = observed(tmp_path / "runs", loop, ZeroParameters)[-1]
    assert [(p.shape, p.flat) for p in last.stuck] == [((4, 4), ""), ((4, 1), "")]
