"""Focal losses, in real sessions."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from debugtracer import session
from debugtracer.trace.facts.focal_mean import FocalMean
from tests.observers.told import facts, findings
from tests.watching import under_watch


@pytest.fixture(autouse=True)
def _left_alone():
    yield
    session.stop()


def train(out, make, rows=12):
    torch.manual_seed(0)
    model = nn.Linear(4, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    with under_watch(out):
        for _ in range(4):
            loss = make(model(torch.randn(rows, 4)), torch.randint(0, 3, (rows,)))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return facts(out, FocalMean), findings(out, "focal-of-mean")


def of_mean(scores, labels):
    cost = F.cross_entropy(scores, labels)
    return (1 - torch.exp(-cost)) ** 2 * cost


def of_negative(scores, labels):
    log = -F.cross_entropy(scores, labels)
    return -0.25 * ((1 - torch.exp(log)) ** 2) * log


def of_binary(scores, labels):
    cost = F.binary_cross_entropy_with_logits(scores[:, 0], labels.clamp(max=1).float())
    return 0.8 * (1 - torch.exp(-cost)) ** 2 * cost


@pytest.mark.parametrize(
    ("make", "loss"),
    [(of_mean, "cross_entropy"), (of_negative, "cross_entropy"), (of_binary, "binary_cross_entropy_with_logits")],
)
def test_a_weight_that_is_made_of_the_mean_is_told_once(tmp_path, make, loss):
    found, said = train(tmp_path, make)
    assert [(f.loss, f.rows) for f in found] == [(loss, 12)]
    assert [f.severity for f in said] == ["warning"]


def test_the_line_that_builds_the_cross_entropy_is_named(tmp_path):
    criterion = nn.CrossEntropyLoss()

    def make(scores, labels):
        cost = criterion(scores, labels)
        return (1 - torch.exp(-cost)) ** 2 * cost

    (finding,) = train(tmp_path, make)[1]
    assert finding.place.frame.code == "criterion = nn.CrossEntropyLoss()"


def of_rows(scores, labels):
    cost = F.cross_entropy(scores, labels, reduction="none")
    return ((1 - torch.exp(-cost)) ** 2 * cost).mean()


def uncertain(scores, labels):
    scale = torch.zeros((), requires_grad=True)
    return torch.exp(-scale) * F.cross_entropy(scores, labels) + scale


def of_another(scores, labels):
    return (1 - torch.exp(-F.cross_entropy(scores, labels))) * F.cross_entropy(scores.flip(0), labels)


@pytest.mark.parametrize("make", [of_rows, uncertain, of_another])
def test_other_weights_are_silent(tmp_path, make):
    assert train(tmp_path, make) == ([], [])


def test_a_batch_of_one_has_no_other_rows(tmp_path):
    assert train(tmp_path, of_mean, rows=1) == ([], [])
