"""Copies that are evaluated with the statistics of a new batch norm."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from debugtracer.trace.facts.fresh_statistics import FreshStatistics
from tests.observers.told import facts
from tests.watching import under_watch


def follow(average, model):
    for slow, fast in zip(average.parameters(), model.parameters(), strict=True):
        slow.lerp_(fast, 0.1)


def with_buffers(average, model):
    follow(average, model)
    for slow, fast in zip(average.buffers(), model.buffers(), strict=True):
        slow.copy_(fast)


def by_torch(average, model):
    average.update_parameters(model)


def stays(average, model):
    pass


def run(out, update, norm=True, clears=False):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8) if norm else nn.ReLU(), nn.Linear(8, 1))
    if update is by_torch:
        average = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.9)).eval()
    else:
        average = copy.deepcopy(model).requires_grad_(False).eval()
    with under_watch(out):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(7):
            optimizer.zero_grad()
            model(torch.randn(6, 4)).square().mean().backward()
            optimizer.step()
            with torch.no_grad():
                update(average, model)
                if clears:
                    model.zero_grad()
                average(torch.randn(3, 4))
    return facts(out, FreshStatistics)


@pytest.mark.parametrize("clears", [False, True])
def test_statistics_left_behind_are_told_once(tmp_path, clears):
    (fact,) = run(tmp_path, follow, clears=clears)
    assert (fact.kind, fact.norms, fact.frame.function) == ("Sequential", 1, "run")
    assert fact.trained >= 3


@pytest.mark.parametrize("update", [with_buffers, by_torch, stays])
def test_statistics_brought_over_and_a_copy_that_nobody_updates_are_silent(tmp_path, update):
    assert run(tmp_path, update) == []


def test_a_network_without_batch_norms_is_silent(tmp_path):
    assert run(tmp_path, follow, norm=False) == []
