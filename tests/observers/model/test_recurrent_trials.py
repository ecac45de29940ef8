"""Recurrent layers that take the batch for time."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

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


class Window(nn.Module):
    def __init__(self, layer, read=-1):
        super().__init__()
        self.lift, self.layer, self.level, self.read = nn.Linear(1, 8), layer, nn.Linear(8, 1), read

    def forward(self, x):
        h = self.lift(x) + torch.linspace(0, 1, x.shape[1])[:, None]
        h = self.layer(h, h, h)[0] if isinstance(self.layer, nn.MultiheadAttention) else self.layer(h)
        return self.level(h[:, self.read] if self.read is not None else h)


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


def encoder(batch_first):
    return nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=batch_first)


@pytest.mark.parametrize("layer", [nn.MultiheadAttention(8, 2), encoder(False)], ids=["attention", "encoder"])
def test_an_attention_along_the_batch_is_told_too(tmp_path, layer):
    told = trials(tmp_path, Window(layer))["over_batch"]
    assert (told.changed, told.length, told.function) == (True, 9, "attention")
    assert told.module in ("layer", "layer.self_attn")
    (finding,) = findings(tmp_path, "recurrent-over-batch")
    assert "so it attends along the samples and not along the 9 steps" in finding.message


@pytest.mark.parametrize(
    "model",
    [
        Window(nn.MultiheadAttention(8, 2, batch_first=True)),
        Window(encoder(True)),
        Window(nn.MultiheadAttention(8, 2), read=None),
    ],
    ids=["batch first", "encoder", "a row a step"],
)
def test_an_attention_along_the_steps_is_silent(tmp_path, model):
    assert "over_batch" not in trials(tmp_path, model)


def leaks(out, model, x):
    """Whether samples are said to see each other, of a model that may be given a batch of a loader."""
    with under_watch(out):
        for (one,) in DataLoader(TensorDataset(x), 6) if isinstance(x, torch.Tensor) else [x]:
            model(one).square().sum().backward()
    return any(fact.trial in ("other_samples", "over_batch") and fact.changed for fact in facts(out, FunctionTest))


def test_time_first_throughout_is_no_leak(tmp_path):
    assert not leaks(tmp_path, Tide(whole=True), (torch.randn(9, 6, 1),))


def test_samples_in_the_second_dimension_are_no_leak(tmp_path):
    with under_watch(tmp_path):
        model = Tide(whole=True)
        for (one,) in DataLoader(TensorDataset(torch.randn(6, 9, 1)), 6):
            model(one.transpose(0, 1)).squeeze(-1).square().sum().backward()
    assert not any(fact.trial == "other_samples" for fact in facts(tmp_path, FunctionTest))


def test_the_batch_first_of_a_loader_is_still_a_leak(tmp_path):
    assert leaks(tmp_path, Tide(whole=True), torch.randn(6, 9, 1))
