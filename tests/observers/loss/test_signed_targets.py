"""Targets of losses that know 1 and -1 alone, under a real session."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from debugtracer.trace.facts.signed_target import SignedTarget
from tests.observers.told import facts, findings
from tests.watching import under_watch

torch.manual_seed(0)
MARKS = (torch.rand(16) < 0.5).float()
MARKS[:2] = torch.tensor([0.0, 1.0])
CALLS = {
    "cosine": lambda a, b, y: F.cosine_embedding_loss(a, b, y),
    "ranking": lambda a, b, y: F.margin_ranking_loss(a.sum(1), b.sum(1), y, margin=1.0),
    "soft": lambda a, b, y: nn.SoftMarginLoss()(a.sum(1), y),
    "hinge": lambda a, b, y: nn.HingeEmbeddingLoss()((a - b).norm(dim=1), y),
}


def told(out, loss, targets):
    torch.manual_seed(1)
    model = nn.Linear(4, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with under_watch(out):
        for _ in range(4):
            optimizer.zero_grad()
            loss(model(torch.randn(16, 4)), model(torch.randn(16, 4)), targets).backward()
            optimizer.step()
    return facts(out, SignedTarget), findings(out, "targets-unsigned")


@pytest.mark.parametrize("name", CALLS)
def test_zeros_are_told(tmp_path, name):
    found, said = told(tmp_path, CALLS[name], MARKS)
    zeros = int((MARKS == 0).sum())
    assert {(f.total, f.other, f.negative) for f in found} == {(16, zeros, 0)}
    assert [f.severity for f in said] == ["warning" if name == "ranking" else "error"]
    assert said[0].place.frame is not None
    assert "CALLS" not in said[0].place.frame.code


@pytest.mark.parametrize("name", CALLS)
def test_signs_and_ties_are_silent(tmp_path, name):
    signs = MARKS * 2 - 1
    signs[2] = 0.0
    assert told(tmp_path, CALLS[name], signs)[1] == []


def test_only_ones_are_silent(tmp_path):
    assert told(tmp_path, CALLS["ranking"], torch.ones(16))[1] == []


def test_a_loss_that_is_masked_afterwards_is_not_judged(tmp_path):
    def masked(a, b, y):
        return (F.cosine_embedding_loss(a, b, y, reduction="none") * (y != 0)).mean()

    assert told(tmp_path, masked, MARKS) == ([], [])
