"""Tensors that a step makes and that nobody reads."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from debugtracer.trace.facts.unread_value import UnreadValue
from tests.observers.told import facts, findings
from tests.watching import under_watch

# ruff: noqa: F841  (names that nobody reads are what this is about)


class Unmasked(nn.Linear):
    def forward(self, x):
        scores = super().forward(x)
        masked = scores.masked_fill(x > 0, -9.0)
        return F.softmax(scores, -1) * x


class WithoutItsInput(nn.Linear):
    def forward(self, x):
        before = x
        x = super().forward(x)
        x = F.relu(x)
        return x * 2


class Unweighted(nn.Linear):
    def forward(self, x):
        weight = (x > 0).float()
        return F.relu(super().forward(x)).mean(1, keepdim=True)


class Masked(nn.Linear):
    def forward(self, x):
        before = x
        scores = super().forward(x)
        masked = scores.masked_fill(x > 0, -9.0)
        return F.softmax(masked, -1) * x + before


class Leftovers(nn.Linear):
    """What is looked at, cast, begun with or counted, and read by nobody."""

    def forward(self, x):
        rows = x.size(0)
        double = x.double()
        begin = torch.zeros(rows, 4)
        scores = super().forward(x)
        chance = F.softmax(scores, -1)
        chosen = scores.argmax(-1)
        lost = scores.detach()
        return F.relu(scores)


class Sometimes(nn.Linear):
    def forward(self, x):
        scores = super().forward(x)
        masked = scores.masked_fill(x > 0, -9.0)
        if x.size(0) > 1000:
            return masked
        return F.relu(scores)


def run(out, layer):
    model = layer(4, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with under_watch(out):
        for _ in range(4):
            optimizer.zero_grad()
            model(torch.randn(6, 4)).square().mean().backward()
            optimizer.step()
    return facts(out, UnreadValue)


@pytest.mark.parametrize(
    ("layer", "name", "how", "like"),
    [
        (Unmasked, "masked", "replaced", "scores"),
        (WithoutItsInput, "before", "kept", "x"),
        (Unweighted, "weight", "rows", "x"),
    ],
)
def test_a_value_that_nobody_reads_is_told_once(tmp_path, layer, name, how, like):
    (found,) = run(tmp_path, layer)
    assert (found.name, found.how, found.like) == (name, how, like)
    assert [f.severity for f in findings(tmp_path, "value-unread")] == ["warning"]


@pytest.mark.parametrize("layer", [Masked, Leftovers, Sometimes])
def test_what_is_read_or_only_looked_at_is_silent(tmp_path, layer):
    assert run(tmp_path, layer) == []


def loop(out, loss_of):
    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with under_watch(out):
        for _ in range(4):
            optimizer.zero_grad()
            loss_of(model, torch.randn(6, 4)).backward()
            optimizer.step()
    return [(one.name, one.how) for one in facts(out, UnreadValue)]


def without_noise(model, x):
    noisy = x + 0.1 * torch.randn_like(x)
    return model(x).square().mean()


def without_its_weights(model, x):
    each = model(x).square().squeeze(1)
    weighted = each * (1 + x[:, 0].abs())
    return each.mean()


def with_a_metric(model, x):
    answer = model(x)
    right = (answer > 0) == (x[:, :1] > 0)
    return answer.square().mean()


def with_rows_of_its_own(model, x):
    order = x[torch.randperm(6)[:5]]
    return model(x).square().mean()


def test_a_loop_is_looked_at_as_well(tmp_path):
    assert loop(tmp_path / "a", without_noise) == [("noisy", "replaced")]
    assert loop(tmp_path / "b", without_its_weights) == [("weighted", "replaced")]
    assert loop(tmp_path / "c", with_a_metric) == []
    assert loop(tmp_path / "d", with_rows_of_its_own) == [("order", "other")]
