"""Averages of weights that are evaluated near their first values."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn

from debugtracer.trace.facts.slow_average import SlowAverage
from tests.observers.told import facts, findings
from tests.watching import under_watch


def by_sum(slow, fast, share):
    slow.copy_((1 - share) * slow + share * fast)


def in_place(slow, fast, share):
    slow.mul_(1 - share).add_(fast, alpha=share)


def lerped(slow, fast, share):
    slow.lerp_(fast, share)


def by_difference(slow, fast, share):
    slow.sub_(share * (slow - fast))


def by_added_difference(slow, fast, share):
    slow.add_(fast - slow, alpha=share)


def run(out, update, share, steps=120, every=20, teaches=False, begin=None):
    torch.manual_seed(0)
    model = nn.Linear(4, 4)
    average = copy.deepcopy(model).requires_grad_(False)
    if begin is not None:
        nn.init.constant_(model.bias, begin)
        nn.init.normal_(average.weight, std=begin)
    with under_watch(out):
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
        for step in range(steps):
            loss = model(torch.randn(6, 4)).square().mean()
            if teaches and step > 10:
                with torch.no_grad():
                    average(torch.randn(6, 4))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            with torch.no_grad():
                for slow, fast in zip(average.parameters(), model.parameters(), strict=True):
                    update(slow, fast, share)
                if every and step % every == every - 1:
                    average(torch.randn(6, 4))
    return facts(out, SlowAverage)


@pytest.mark.parametrize("update", [by_sum, in_place, lerped, by_difference, by_added_difference])
def test_an_average_that_is_evaluated_near_its_first_values_is_told(tmp_path, update):
    (fact,) = run(tmp_path, update, 0.0005)
    assert (fact.param, fact.frame.function, fact.updates) == ("bias", update.__name__, 119)
    assert float(fact.share) == pytest.approx(0.0005)
    assert 0.05 < float(fact.covered) < 0.1 and float(fact.evaluated) < 0.1
    assert [f.kind for f in findings(tmp_path, "optimizer/average-lags")] == ["average_lags"]


@pytest.mark.parametrize(
    "told",
    [{"share": 0.05}, {"steps": 40}, {"every": 0}, {"teaches": True}, {"begin": 3.0}],
    ids=["it follows", "a short run", "nobody evaluates it", "it teaches", "it went on from a file"],
)
def test_others_are_not(tmp_path, told):
    assert not run(tmp_path, lerped, **{"share": 0.0005, **told})
