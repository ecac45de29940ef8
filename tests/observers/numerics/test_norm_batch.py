"""How many values batch norms see."""

from __future__ import annotations

import torch
from torch import nn

from debugtracer.trace.facts.norm_batch import NormBatch
from tests.observers.told import facts, findings
from tests.watching import under_watch


def run(out, model, x):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with under_watch(out):
        for _ in range(4):
            loss = model(x).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return facts(out, NormBatch)


def test_two_rows_are_seen_with_the_module(tmp_path):
    told = run(tmp_path, nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1d(6)), torch.randn(2, 4))
    assert [(f.look, f.values, f.shape, f.modules) for f in told] == [(look, 2, (2, 6), ("1",)) for look in range(3)]
    assert [f.severity for f in findings(tmp_path, "tiny-norm-batch")] == ["warning"]


def test_maps_larger_batches_and_evaluation_mode_have_enough(tmp_path):
    assert not run(tmp_path / "a", nn.Sequential(nn.Conv2d(3, 6, 3), nn.BatchNorm2d(6)), torch.randn(2, 3, 8, 8))
    assert not run(tmp_path / "b", nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1d(6)), torch.randn(8, 4))
    assert not run(tmp_path / "c", nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1d(6)).eval(), torch.randn(2, 4))
