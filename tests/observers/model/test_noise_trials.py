"""Dropouts that evaluation mode does not turn off."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from debugtracer.trace.facts.function_test import FunctionTest
from tests.observers.told import facts, findings
from tests.watching import under_watch


class Net(nn.Module):
    def __init__(self, noise):
        super().__init__()
        self.one, self.other, self.noise = nn.Linear(4, 16), nn.Linear(16, 2), noise
        self.dropout = nn.Dropout(0.5)

    def forward(self, x):
        return self.other(self.noise(self, self.one(x).relu()))


def by_default(net, x):
    return F.dropout(x, 0.5)


def keyword(net, x):
    return F.dropout(x, p=0.5)


def made_anew(net, x):
    return nn.Dropout(0.5)(x)


def attention(net, x):
    return F.scaled_dot_product_attention(x[None], x[None], x[None], dropout_p=0.5)[0]


def attention_by_place(net, x):
    return F.scaled_dot_product_attention(x[None], x[None], x[None], None, 0.5)[0]


def attention_follows(net, x):
    return F.scaled_dot_product_attention(x[None], x[None], x[None], dropout_p=0.5 if net.training else 0.0)[0]


def follows(net, x):
    return F.dropout(x, 0.5, training=net.training)


def by_place(net, x):
    return F.dropout(x, 0.5, net.training)


def asked_for(net, x):
    return F.dropout(x, 0.5, training=True)


def asked_by_place(net, x):
    return F.dropout(x, 0.5, True)


def a_module(net, x):
    return net.dropout(x)


def other_noise(net, x):
    return x + 0.1 * torch.randn_like(x)


def run(out, noise):
    model = Net(noise)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with under_watch(out):
        for _ in range(2):
            optimizer.zero_grad()
            model(torch.randn(6, 4)).square().mean().backward()
            optimizer.step()
    return [f for f in facts(out, FunctionTest) if f.trial == "dropout_left_on"]


@pytest.mark.parametrize("noise", [by_default, keyword, made_anew, attention, attention_by_place])
def test_a_dropout_that_stays_on_is_told(tmp_path, noise):
    (found,) = run(tmp_path, noise)
    assert (found.changed, found.frame.function) == (True, noise.__name__)
    assert [f.severity for f in findings(tmp_path, "dropout-left-on")] == ["warning"]


@pytest.mark.parametrize(
    "noise", [follows, attention_follows, by_place, asked_for, asked_by_place, a_module, other_noise]
)
def test_a_dropout_that_is_off_or_meant_is_silent(tmp_path, noise):
    assert run(tmp_path, noise) == []
