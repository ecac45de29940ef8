"""Groups whose learning rate is 0."""

from __future__ import annotations

import torch
from torch import nn

from debugtracer.trace.facts.idle_group import IdleGroup
from tests.observers.told import facts
from tests.watching import under_watch


def run(out, groups_of, change=lambda optimizer, step: None, model=None):
    torch.manual_seed(0)
    model = model or nn.Sequential(nn.Linear(12, 16), nn.ReLU(), nn.Linear(16, 2))
    with under_watch(out):
        optimizer = torch.optim.SGD(groups_of(model), lr=0.1)
        for step in range(6):
            optimizer.zero_grad()
            model(torch.randn(6, 12)).square().mean().backward()
            optimizer.step()
            change(optimizer, step)
    return facts(out, IdleGroup)


def weights_idle(model):
    weights = [p for p in model.parameters() if p.dim() > 1]
    return [{"params": weights, "lr": 0.0}, {"params": [p for p in model.parameters() if p.dim() == 1]}]


def test_new_weights_that_never_had_a_rate_are_told_at_the_end(tmp_path):
    (fact,) = run(tmp_path, weights_idle)
    assert (fact.group, fact.groups, fact.updates, fact.param, fact.rate) == (0, 2, 6, "0.weight", 0.1)
    assert fact.share > 0.9


def test_a_rate_that_comes_later_is_silent(tmp_path):
    def thaw(optimizer, step):
        optimizer.param_groups[0]["lr"] = 0.01 if step > 2 else 0.0

    assert run(tmp_path, weights_idle, thaw) == []


def test_weights_that_were_loaded_and_equal_rates_are_silent(tmp_path):
    loaded = nn.Sequential(nn.Linear(12, 16), nn.ReLU(), nn.Linear(16, 2))
    with torch.no_grad():
        for p in loaded.parameters():
            p.add_(1.0)
    assert run(tmp_path / "loaded", weights_idle, model=loaded) == []
    assert run(tmp_path / "all", lambda model: [{"params": list(model.parameters()), "lr": 0.0}]) == []
