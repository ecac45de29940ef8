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


def by_data(average, model):
    for slow, fast in zip(average.parameters(), model.parameters(), strict=True):
        slow.data.mul_(0.9).add_(fast.data, alpha=0.1)


def test_the_line_that_writes_the_weights_is_told_also_past_their_counter(tmp_path):
    (fact,) = run(tmp_path, by_data)
    assert (fact.written.function, fact.off) == ("by_data", 0.0)


def later(out, update, steps=120, shift=3.0, pretrained=True):
    """A copy of a network that has counted batches before."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 1))
    for _ in range(40 if pretrained else 0):
        model(torch.randn(16, 4))
    average = copy.deepcopy(model).requires_grad_(False).eval()
    with under_watch(out):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        for step in range(steps):
            optimizer.zero_grad()
            (model(shift * torch.randn(16, 4) + shift - 1) - 1).square().mean().backward()
            optimizer.step()
            with torch.no_grad():
                update(average, model)
                if step % 20 == 19:
                    average(torch.randn(3, 4))
    return facts(out, FreshStatistics)


def test_statistics_of_the_start_that_never_move_are_told(tmp_path):
    (fact,) = later(tmp_path, follow)
    assert (fact.norms, fact.written.function) == (1, "follow")
    assert float(fact.off) > 0.25


@pytest.mark.parametrize("update", [with_buffers, stays])
def test_statistics_that_move_and_a_copy_of_the_start_are_silent(tmp_path, update):
    assert later(tmp_path, update) == []


def test_statistics_that_still_fit_are_silent(tmp_path):
    assert later(tmp_path, follow, shift=1.0) == []


def test_another_network_of_its_class_that_was_built_apart_is_no_copy(tmp_path):
    torch.manual_seed(0)
    make = lambda: nn.Sequential(nn.Linear(4, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, 8))  # noqa: E731
    model, random = make(), make().requires_grad_(False).eval()
    with under_watch(tmp_path):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
        for _ in range(80):
            x = torch.randn(16, 4)
            with torch.no_grad():
                wanted = random(x)
            optimizer.zero_grad()
            (model(x) - wanted).square().mean().backward()
            optimizer.step()
    assert facts(tmp_path, FreshStatistics) == []


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


def test_a_copy_is_told_after_many_evaluations_of_the_network_and_without_its_optimizer(tmp_path):
    torch.manual_seed(0)
    make = lambda: nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Linear(8, 1))  # noqa: E731
    model = make()

    def fit():
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        for _ in range(7):
            optimizer.zero_grad()
            model(torch.randn(6, 4)).square().mean().backward()
            optimizer.step()

    with under_watch(tmp_path):
        fit()
        model.eval()
        with torch.no_grad():
            for _ in range(300):
                model(torch.randn(3, 4))
            copied = make().eval()
            copied.load_state_dict(dict(model.named_parameters()), strict=False)
            copied(torch.randn(3, 4))
    (fact,) = facts(tmp_path, FreshStatistics)
    assert fact.kind == "Sequential"
