"""Scores of the rows of a batch with one another, in real loops."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from debugtracer.trace.facts.own_scores import OwnScores
from debugtracer.trace.number import as_float
from tests.observers.told import facts
from tests.watching import under_watch

ROWS = 16
PARTNER = torch.arange(ROWS).roll(ROWS // 2)


def run(out, contrast, steps=2):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 5))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with under_watch(out):
        for _ in range(steps):
            x = torch.randn(ROWS // 2, 6)
            views = torch.cat([x + 0.1 * torch.randn_like(x), x + 0.1 * torch.randn_like(x)])
            loss = contrast(F.normalize(model(views), dim=1))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return facts(out, OwnScores)


def of_the_product(z):
    return F.cross_entropy(z @ z.T / 0.2, PARTNER)


def of_cosines(z):
    return nn.CrossEntropyLoss()(F.cosine_similarity(z[:, None], z[None], dim=2).div_(0.2), PARTNER)


def shifted(z):
    scores = torch.mm(z, z.t()) / 0.2
    return F.cross_entropy(scores - scores.max(dim=1, keepdim=True).values.detach(), PARTNER)


def by_hand(z):
    scores = torch.exp(torch.einsum("ic,jc->ij", z, z) / 0.2)
    return -torch.log(scores[torch.arange(ROWS), PARTNER] / scores.sum(dim=-1)).mean()


def in_place(z):
    scores = torch.exp_(z @ z.T / 0.2)
    near = torch.exp((z * z[PARTNER]).sum(1) / 0.2)
    return -torch.log(near / scores.sum(1)).mean()


def by_rows(z):
    scores = z @ z.T / 0.2
    return (torch.logsumexp(scores, 1) - scores[torch.arange(ROWS), PARTNER]).mean()


@pytest.mark.parametrize(
    ("contrast", "name"),
    [
        (of_the_product, "cross_entropy"), (of_cosines, "cross_entropy"), (shifted, "cross_entropy"),
        (by_hand, "exp"), (in_place, "exp"), (by_rows, "logsumexp"),
    ],
)  # fmt: skip
def test_the_row_itself_is_among_the_scores(contrast, name, tmp_path):
    found = run(tmp_path, contrast)
    assert [(fact.ref.step, fact.function, fact.rows, fact.wanted) for fact in found] == [
        (0, name, ROWS, False),
        (1, name, ROWS, False),
    ]
    assert found[0].frame.function == found[0].scores_frame.function == contrast.__name__
    assert 0.1 < as_float(found[0].share) < 0.9


def of_itself(z):
    scores = z @ z.T / 0.2
    labels = torch.arange(ROWS)
    return F.cross_entropy(scores, labels)


def test_the_row_itself_as_the_target_is_told_with_the_line_of_the_targets(tmp_path):
    (fact,) = run(tmp_path, of_itself, 1)
    assert fact.wanted and "labels = torch.arange" in fact.target_frame.code


def filled(z):
    return F.cross_entropy((z @ z.T / 0.2).fill_diagonal_(-1e9), PARTNER)


def masked(z):
    return F.cross_entropy((z @ z.T / 0.2).masked_fill(torch.eye(ROWS, dtype=torch.bool), -1e9), PARTNER)


def less_an_eye(z):
    return F.cross_entropy(z @ z.T / 0.2 - 1e9 * torch.eye(ROWS), PARTNER)


def written(z):
    scores = z @ z.T / 0.2
    scores[torch.eye(ROWS, dtype=torch.bool)] = -9e15
    return F.cross_entropy(scores, PARTNER)


def multiplied(z):
    scores = torch.exp(z @ z.T / 0.2) * (1 - torch.eye(ROWS))
    return -torch.log(scores[torch.arange(ROWS), PARTNER] / scores.sum(1)).mean()


def taken_away(z):
    scores = torch.exp(z @ z.T / 0.2)
    others = scores.sum(1) - scores.diagonal()
    return -torch.log(scores[torch.arange(ROWS), PARTNER] / others).mean()


def of_two_views(z):
    return F.cross_entropy(z[: ROWS // 2] @ z[ROWS // 2 :].T / 0.2, torch.arange(ROWS // 2))


def attention(z):
    return ((z @ z.T).softmax(1) @ z - z.roll(1, 0)).square().mean()


def kernel(z):
    return torch.exp(z @ z.T).mean()


def some_of_themselves(z):
    labels = PARTNER.clone()
    labels[0] = 0
    return F.cross_entropy(z @ z.T / 0.2, labels)


@pytest.mark.parametrize(
    "contrast",
    [filled, masked, less_an_eye, written, multiplied, taken_away, of_two_views, attention, kernel, some_of_themselves],
)
def test_everything_else_is_silent(contrast, tmp_path):
    assert run(tmp_path, contrast) == []


def test_a_step_that_was_not_seen_to_its_end_is_forgotten(tmp_path):
    model = nn.Linear(6, 5)
    with under_watch(tmp_path) as session:
        observer = session.dispatcher.observers["own-scores"]
        by_hand(F.normalize(model(torch.randn(ROWS, 6)), dim=1))
        assert observer.ready
        session.dispatcher.missed()
        assert not observer.ready and not len(observer.squares)
