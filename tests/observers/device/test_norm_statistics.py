"""What is taken down of batch norms that keep the statistics of one rank."""

from __future__ import annotations

import math

import pytest
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from debugtracer.observers.device import norm_statistics
from debugtracer.observers.device.norm_statistics import statistics_of
from debugtracer.trace.events import Observed
from debugtracer.trace.facts.fact import from_plain
from tests.watching import events, under_watch


def test_a_layer_in_training_is_read_and_others_are_not():
    layer = nn.BatchNorm1d(3)
    layer(torch.tensor([[1.0, 2.0, 3.0], [3.0, 4.0, 7.0]]))
    seen = statistics_of("norm", layer)
    assert (
        seen.mean == pytest.approx((0.2, 0.3, 0.5))
        and seen.var == pytest.approx((1.1, 1.1, 1.7))
        and (seen.kind, seen.momentum) == ("BatchNorm1d", 0.1)
    )
    assert statistics_of("norm", nn.BatchNorm1d(3).eval()) is None
    assert statistics_of("norm", nn.BatchNorm1d(3, track_running_stats=False)) is None
    layer.running_mean[0] = math.nan
    assert statistics_of("norm", layer) is None


def test_the_gate_of_inspected_steps_tells_the_layers_of_the_wrapped_model(tmp_path, monkeypatch):
    # one process stands for two: the exchange itself is torch's
    monkeypatch.setattr(norm_statistics, "group_of", lambda module: (0, 1))
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    try:
        with under_watch(tmp_path):
            model = DistributedDataParallel(nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 1)))
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for _ in range(4):
                model(torch.randn(6, 3)).square().mean().backward()
                optimizer.step()
                optimizer.zero_grad()
    finally:
        dist.destroy_process_group()
    told = [
        from_plain(e.word, e.fact)
        for e in events(tmp_path)
        if isinstance(e, Observed) and e.word == "norm-statistics/NormStatistics"
    ]
    assert [fact.ref.step for fact in told] == [0, 1, 2]
    assert [(layer.name, len(layer.mean)) for layer in told[0].layers] == [("1", 4)] and told[0].broadcast
