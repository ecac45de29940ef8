"""The largest score of cosines times a constant."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F

from debugtracer.observers.loss.score_limit import score_limit
from debugtracer.trace.facts.loss_call import LossCall
from tests.observers.told import facts, findings
from tests.watching import under_watch

torch.manual_seed(0)
A, B = (torch.randn(8, 6, requires_grad=True) for _ in range(2))
U, V = F.normalize(A, dim=1), F.normalize(B, dim=1)


@pytest.mark.parametrize(
    ("scores", "limit"),
    [
        (U @ V.T, 1.0),
        (U @ V.T / 50, 0.02),
        (0.1 * (V @ U.mT).T, 0.1),
        (F.linear(U, V) * torch.tensor(3.0), 3.0),
        ((U.view(2, 4, 6) @ V.view(2, 4, 6).mT / 4).view(2, 16), 0.25),
    ],
)
def test_cosines_have_a_limit(scores, limit):
    assert score_limit(scores) == pytest.approx(limit, rel=1e-4)


@pytest.mark.parametrize(
    "scores",
    [
        A @ B.T,
        U @ B.T,
        U @ V.T + 1,
        U @ V.T * torch.ones((), requires_grad=True),
        U @ V.T * (torch.arange(8) > 3),
        U,
        torch.ones(3, 3),
    ],
)
def test_other_scores_have_none(scores):
    assert score_limit(scores) is None


@pytest.mark.parametrize(("temperature", "told"), [(30.0, 1), (1.0, 0), (0.1, 0)])
def test_it_is_told_of_a_run(tmp_path, temperature, told):
    torch.manual_seed(1)
    left, right = torch.nn.Linear(5, 4), torch.nn.Linear(5, 4)
    optimizer = torch.optim.SGD([*left.parameters(), *right.parameters()], lr=0.1)
    with under_watch(tmp_path):
        for _ in range(4):
            x = torch.randn(12, 5)
            u, v = F.normalize(left(x), dim=-1), F.normalize(right(x), dim=-1)
            optimizer.zero_grad()
            F.cross_entropy(u @ v.T / temperature, torch.arange(12)).backward()
            optimizer.step()
    assert facts(tmp_path, LossCall)[0].score_limit == pytest.approx(1 / temperature, rel=1e-3)
    assert len(findings(tmp_path, "model/scores-bounded")) == told
