"""The range of outputs, and what lies beyond it."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from debugtracer.observers.loss.output_range import output_range, row_sums, unreached, with_zeros
from debugtracer.trace.facts.loss_call import LossCall, Maker
from debugtracer.trace.number import as_float
from tests.observers.told import facts, findings
from tests.watching import under_watch


@pytest.mark.parametrize(
    ("name", "args", "kwargs", "low", "high"),
    [
        ("sigmoid", (0,), {}, 0, 1),
        ("relu", (0,), {}, 0, math.inf),
        ("hardtanh", (0,), {}, -1, 1),
        ("hardtanh", (0, -2.0, 3.0), {}, -2, 3),
        ("clamp", (0, 0.5), {}, 0.5, math.inf),
        ("clamp", (0,), {"max": 2}, -math.inf, 2),
        ("clamp", (0, torch.zeros(2)), {}, -math.inf, math.inf),
        ("clamp_max", (0, 4), {}, -math.inf, 4),
        ("clamp_min", (0,), {"min": 1}, 1, math.inf),
        ("log_softmax", (0,), {}, -math.inf, math.inf),
    ],
)
def test_ranges_of_calls(name, args, kwargs, low, high):
    assert output_range(name, args, kwargs) == (low, high)


def test_what_lies_beyond():
    outside, part = unreached(torch.tensor([-1.0, 0.0, 1.0, 2.0]), 0.0, 1.0)
    assert (int(outside), float(part)) == (2, pytest.approx(0.5 / 1.25))


def test_sums_of_rows():
    assert [float(one) for one in row_sums(torch.tensor([[1.0, 1.0], [0.0, 0.5]]), 1)] == [0.5, 2.0, 1.0]


def test_the_share_of_scores_that_are_cut():
    scores = torch.tensor([[0.0, 2.0], [0.0, 1.0]])
    assert with_zeros(Maker(function="relu", low=0.0), scores).zeros == 0.5
    for maker in (Maker(function="tanh", low=-1.0), Maker(function="softmax", low=0.0)):
        assert with_zeros(maker, scores).zeros is None
    assert with_zeros(None, scores) is None


def told(out, model, loss, targets):
    torch.manual_seed(1)
    inputs = torch.randn(64, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with under_watch(out):
        for at in range(4):
            rows = slice(16 * at, 16 * at + 16)
            optimizer.zero_grad()
            loss(model(inputs[rows]), targets[rows]).backward()
            optimizer.step()
    return facts(out, LossCall), findings(out, "model/targets-unreached")


def network(*end):
    torch.manual_seed(2)
    return nn.Sequential(nn.Linear(4, 3), *end)


class Scaled(nn.Module):
    def forward(self, x):
        return 3 * torch.tanh(x)


WIDE = 3 * torch.randn(64, 3, generator=torch.Generator().manual_seed(3))


@pytest.mark.parametrize(
    ("end", "loss", "function"),
    [
        (nn.Sigmoid(), F.mse_loss, "sigmoid"),
        (nn.Tanh(), nn.L1Loss(), "tanh"),
        (nn.ReLU(inplace=True), nn.HuberLoss(), "relu"),
        (nn.Softmax(dim=1), F.smooth_l1_loss, "softmax"),
        (nn.Hardtanh(), F.mse_loss, "hardtanh"),
        (nn.ReLU6(), F.mse_loss, "hardtanh"),
    ],
)
def test_targets_beyond_are_told(tmp_path, end, loss, function):
    _, (found,) = told(tmp_path, network(end), loss, WIDE)
    assert f"the output of {function} (module 1" in found.message
    assert (found.severity, found.place.module) == ("warning", "1")


@pytest.mark.parametrize(
    ("end", "loss", "targets"),
    [
        (nn.Sigmoid(), F.mse_loss, torch.rand(64, 3)),
        (nn.Tanh(), F.mse_loss, WIDE.clamp(-1, 1)),
        (Scaled(), F.mse_loss, WIDE),
        (nn.ReLU(), F.mse_loss, WIDE.abs() + 0.1 * torch.randn(64, 3)),
        (nn.Sigmoid(), lambda a, b: (F.mse_loss(a, b, reduction="none") * (b < 1)).mean(), WIDE),
        (nn.Sigmoid(), F.mse_loss, torch.full((64, 3), 1.2)),
        (nn.Identity(), F.mse_loss, WIDE),
        (nn.Identity(), lambda a, b: F.mse_loss(F.relu(1 - a * b.sign()), torch.zeros_like(a)), WIDE),
    ],
)
def test_what_can_be_reached_is_silent(tmp_path, end, loss, targets):
    assert told(tmp_path, network(end), loss, targets)[1] == []


def test_several_labels_are_told(tmp_path):
    calls, (found,) = told(tmp_path, network(), nn.CrossEntropyLoss(), (WIDE > 0).float())
    assert "labels of 0 and 1" in found.message
    assert calls[0].multi_hot
    assert as_float(calls[0].row_high) == 3


@pytest.mark.parametrize(
    "targets",
    [
        WIDE.softmax(1),
        0.9 * F.one_hot(WIDE.argmax(1), 3).float() + 0.1 / 3,
        F.one_hot(WIDE.argmax(1), 3).float(),
        F.one_hot(WIDE.argmax(1), 3) * (WIDE[:, :1] > 0).float(),
        1.0 - F.one_hot(WIDE.argmax(1), 3).float(),
        2.5 * WIDE.softmax(1),
        WIDE.argmax(1),
    ],
)
def test_shares_and_single_labels_are_silent(tmp_path, targets):
    assert told(tmp_path, network(), nn.CrossEntropyLoss(), targets)[1] == []


class Cut(nn.Module):
    def __init__(self, end):
        super().__init__()
        self.last, self.end = nn.Linear(4, 6), end

    def forward(self, x):
        return self.end(self.last(x))


LOGITS = F.binary_cross_entropy_with_logits


@pytest.mark.parametrize(
    ("end", "loss", "said"),
    [
        (F.relu, F.cross_entropy, 1),
        (nn.ReLU(inplace=True), F.cross_entropy, 1),
        (torch.sigmoid, F.cross_entropy, 1),
        (lambda x: x.clamp(min=0).view(-1, 6), F.cross_entropy, 1),
        (lambda x: F.log_softmax(torch.relu(x), 1), F.nll_loss, 1),
        (F.relu, lambda scores, labels: LOGITS(scores, F.one_hot(labels, 6).float()), 1),
        (lambda x: F.relu(x).view(-1, 3, 2).mean(2), F.cross_entropy, 0),
        (lambda x: 10 * torch.tanh(x), F.cross_entropy, 0),
        (F.leaky_relu, F.cross_entropy, 0),
        (F.softplus, F.cross_entropy, 0),
        (lambda x: x.clamp(-20, 20), F.cross_entropy, 0),
        (lambda x: F.log_softmax(x, 1), F.nll_loss, 0),
    ],
)
def test_scores_that_are_cut_are_told(tmp_path, end, loss, said):
    torch.manual_seed(1)
    _, _ = told(tmp_path, Cut(end), loss, torch.arange(64) % 3)
    assert len(findings(tmp_path, "model/scores-cut")) == said
