"""State in half precision and decay on gains, in real loops."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch
from torch import nn

from debugtracer.observers.optimizer.optimizer_state import gains_of
from debugtracer.trace.facts.effects import DecayedGains, HalfState
from tests.observers.loops import data, mse, plain
from tests.observers.observing import observed


def half() -> None:
    model = nn.Linear(4, 1).half()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, eps=1e-4)
    for x, y in data(3):
        optimizer.zero_grad()
        mse(model(x.half()), y.half()).backward()
        optimizer.step()


def test_moments_in_float16_are_told_once_with_the_least_number(tmp_path: Path):
    (fact,) = observed(tmp_path / "runs", half, HalfState)
    assert (fact.kind, fact.eps, fact.dtype, fact.param) == ("Adam", 1e-4, "float16", "weight")
    assert fact.least == pytest.approx(2.0**-24)


def test_moments_in_float32_say_nothing(tmp_path: Path):
    assert observed(tmp_path / "runs", lambda: plain(3, torch.optim.Adam), HalfState) == []


def test_decay_on_gains_is_followed(tmp_path: Path):
    def loop() -> None:
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(4, 8), nn.LayerNorm(8), nn.Linear(8, 1))
        optimizer = torch.optim.SGD(
            [{"params": model[1].parameters(), "weight_decay": 0.5}, {"params": model[2].parameters()}], lr=0.1
        )
        for x, y in data(101):
            optimizer.zero_grad()
            (0.0 * mse(model(x), y)).backward()
            optimizer.step()

    fact = observed(tmp_path / "runs", loop, DecayedGains)[-1]
    assert (fact.params, fact.count, fact.decay, fact.updates) == (("1.weight",), 1, 0.5, 101)
    assert fact.factor == pytest.approx(math.exp(-101 * 0.05))
    assert fact.size == pytest.approx(0.95**101 / 0.95, rel=1e-3)


@pytest.mark.parametrize("least", [1, 2])
def test_a_group_without_decay_that_holds_nothing_is_told_early(tmp_path: Path, least: int):
    def loop() -> None:
        model = nn.Sequential(nn.Linear(4, 8), nn.LayerNorm(8), nn.Linear(8, 1))
        decayed, spared = [], []
        for p in model.parameters():
            if p.ndim < least:
                spared.append(p)
            else:
                decayed.append(p)
        groups = [{"params": decayed, "weight_decay": 0.1}, {"params": spared, "weight_decay": 0.0}]
        optimizer = torch.optim.AdamW(groups, lr=1e-3)
        for x, y in data(4):
            optimizer.zero_grad()
            mse(model(x), y).backward()
            optimizer.step()

    facts = observed(tmp_path / "runs", loop, DecayedGains)
    assert [f.spared for f in facts] == ([0] if least == 1 else [])
    assert all(f.group_frame is not None and f.group_frame.code == "if p.ndim < least:" for f in facts)


def test_gains_are_known_by_their_module():
    model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2), nn.LayerNorm(2, elementwise_affine=False))
    assert [id(g) for g in gains_of(model)] == [id(model[1].weight)]
