"""Recurrent layers that take the batch for time."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from debugtracer.trace.facts.function_test import FunctionTest
from tests.observers.told import facts, findings
from tests.watching import under_watch


class Tide(nn.Module):
    def __init__(self, kind=nn.GRU, batch_first=False, whole=False):
        super().__init__()
        self.memory = kind(1, 8, batch_first=batch_first)
        self.level = nn.Linear(8, 1)
        self.whole = whole

    def forward(self, x):
        states, _ = self.memory(x)
        return self.level(states if self.whole else states[:, -1])


class TimeFirst(Tide):
    def forward(self, x):
        states, _ = self.memory(x.transpose(0, 1))
        return self.level(states[-1])


def trials(out, model):
    with under_watch(out):
        model(torch.randn(6, 9, 1)).square().sum().backward()
    return {fact.trial: fact for fact in facts(out, FunctionTest)}


@pytest.mark.parametrize("kind", [nn.GRU, nn.LSTM, nn.RNN])
def test_the_batch_in_the_dimension_of_time_is_told_at_the_layer(tmp_path, kind):
    told = trials(tmp_path, Tide(kind))["over_batch"]
    assert (told.changed, told.module, told.length) == (True, "memory", 9)
    assert "self.memory = kind(" in told.frame.code
    assert [f.kind for f in findings(tmp_path, "recurrent-over-batch")] == ["axes_mixed"]


@pytest.mark.parametrize("model", [Tide(batch_first=True), TimeFirst(), Tide(whole=True)], ids=str)
def test_time_in_its_own_dimension_is_silent(tmp_path, model):
    assert "over_batch" not in trials(tmp_path, model)
