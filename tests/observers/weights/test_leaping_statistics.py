"""Running means that leap from batch to batch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from debugtracer.observers.weights.leaping_statistics import leap_of
from debugtracer.trace.facts.leaping_statistics import LeapingStatistics
from tests.observers.observing import facts
from tests.watching import under_watch


def trained(folder: Path, momentum: float | None, rows: int = 4, steps: int = 20, **more: Any) -> list[Any]:
    torch.manual_seed(0)
    model = nn.Sequential(nn.BatchNorm1d(12, momentum=momentum, **more), nn.Linear(12, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with under_watch(folder):
        for _ in range(steps):
            model(torch.randn(rows, 12) * 3 + 5).mean().backward()
            optimizer.step()
            optimizer.zero_grad()
    return facts(folder, LeapingStatistics)


def test_a_momentum_that_keeps_the_last_batch(tmp_path: Path):
    (fact,) = trained(tmp_path, 0.99)
    assert (fact.module, fact.norms, fact.momentum, fact.steps) == ("0", 1, 0.99, 6)
    assert 0.3 < fact.leap < 1.0


def test_large_batches_leap_by_little(tmp_path: Path):
    (fact,) = trained(tmp_path, 0.99, rows=256)
    assert fact.leap < 0.12


@pytest.mark.parametrize("momentum", [0.1, 0.5, None])
def test_other_momenta_are_not_looked_at(tmp_path: Path, momentum):
    assert trained(tmp_path, momentum) == []


def test_a_short_run_and_a_norm_without_statistics_say_nothing(tmp_path: Path):
    assert trained(tmp_path / "short", 0.99, steps=12) == []
    assert trained(tmp_path / "none", 0.99, track_running_stats=False) == []


def test_a_mean_that_walks_does_not_leap():
    norm = nn.BatchNorm1d(3)
    assert leap_of([torch.full((3,), float(step)) for step in range(6)], norm) == 0.0
    assert leap_of([torch.full((3,), float(step % 2)) for step in range(6)], norm) > 1.0
