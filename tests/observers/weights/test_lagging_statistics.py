"""What running statistics say of the batches they are made of."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn

from debugtracer.trace.facts.lagging_statistics import LaggingStatistics
from tests.observers.observing import facts
from tests.watching import under_watch


def trained(folder: Path, momentum: float | None, steps: int = 120, loads: bool = False) -> list[LaggingStatistics]:
    torch.manual_seed(0)
    model = nn.Sequential(nn.BatchNorm1d(6, momentum=momentum), nn.Linear(6, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with under_watch(folder):
        for step in range(steps):
            model(torch.randn(64, 6) * 3 + 5).mean().backward()
            optimizer.step()
            optimizer.zero_grad()
            if loads and step == 3:
                model.load_state_dict(model.state_dict())
    return facts(folder, LaggingStatistics)


def test_the_batches_are_worked_out_from_a_small_momentum(tmp_path: Path):
    (fact,) = trained(tmp_path, 0.001)
    assert (fact.module, fact.batches, fact.norms) == ("0", 120, 1)
    assert fact.kept == pytest.approx(0.999**120)
    assert fact.mean_gap == pytest.approx(5 / 3 * 0.999**120, rel=0.05)
    assert fact.variance_ratio == pytest.approx((9 * (1 - fact.kept) + fact.kept) / 9, rel=0.05)


@pytest.mark.parametrize(
    ("momentum", "steps", "loads"), [(0.1, 120, False), (None, 120, False), (0.001, 60, False), (0.001, 120, True)]
)
def test_torchs_default_a_short_run_and_loaded_statistics_are_left_out(tmp_path: Path, momentum, steps, loads):
    assert trained(tmp_path, momentum, steps, loads) == []
