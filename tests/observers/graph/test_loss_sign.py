"""Which loss function a loss is, and what it was multiplied with."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from debugtracer.observers.graph.loss_sign import sign_of

F = nn.functional
SCORES = torch.tensor([[0.5, -1.0, 2.0], [0.1, 0.2, 0.3]])
LABELS = torch.tensor([0, 2])


def scores():
    return SCORES.clone().requires_grad_()


def cross_entropy():
    return F.cross_entropy(scores() * 1.0, LABELS)


def unit(rows):
    return F.normalize(rows, dim=1)


def by_hand(rows):
    return (rows / rows.norm(dim=1, keepdim=True) * unit(SCORES)).sum(-1).mean()


@pytest.mark.parametrize(
    ("loss", "factor", "function"),
    [
        (cross_entropy, 1, "cross-entropy"),
        (lambda: -cross_entropy(), -1, "cross-entropy"),
        (lambda: 0 - cross_entropy(), -1, "cross-entropy"),
        (lambda: cross_entropy() / 4, 0.25, "cross-entropy"),
        (lambda: -(cross_entropy() * 3), -3, "cross-entropy"),
        (lambda: -F.cross_entropy(scores(), LABELS, reduction="none").mean(), -1, "cross-entropy"),
        (lambda: F.nll_loss(-scores().log_softmax(1), LABELS), -1, "cross-entropy"),
        (lambda: -cross_entropy().neg(), 1, "cross-entropy"),
        (lambda: -F.mse_loss(scores(), SCORES), -1, "squared error"),
        (lambda: -(scores() - SCORES).pow(2).mean(), -1, "squared error"),
        (lambda: ((SCORES - scores()) ** 2).sum(), 1, "squared error"),
        (lambda: F.smooth_l1_loss(scores(), SCORES), 1, "smooth L1 loss"),
        (lambda: -(cross_entropy() + F.mse_loss(scores(), SCORES)), -1, "cross-entropy"),
        (lambda: F.cosine_similarity(scores(), SCORES).mean(), -1, "cosine similarity"),
        (lambda: 1 - F.cosine_similarity(SCORES, scores(), dim=-1).mean(), 1, "cosine similarity"),
        (lambda: (unit(scores()) * unit(SCORES)).sum(1).mean() / 2, -0.5, "cosine similarity"),
        (lambda: by_hand(scores() * 1.0), -1, "cosine similarity"),
        (lambda: -F.binary_cross_entropy_with_logits(scores(), (SCORES > 0).float()), -1, "binary cross-entropy"),
    ],
)
def test_a_loss_function_and_its_sign(loss, factor, function):
    found = sign_of(loss())
    assert (found.factor, found.function) == (pytest.approx(factor), function)


@pytest.mark.parametrize(
    "loss",
    [
        lambda: (F.cross_entropy(scores(), LABELS, reduction="none") * torch.tensor([1.0, -2.0])).mean(),
        lambda: cross_entropy() * -1,
        lambda: F.nll_loss(scores(), LABELS),
        lambda: F.mse_loss(scores(), scores()),
        lambda: cross_entropy() - F.mse_loss(scores(), SCORES),
        lambda: -cross_entropy() + F.mse_loss(scores(), SCORES),
        lambda: F.cosine_similarity(scores(), scores() * 2.0).mean(),
        lambda: (unit(scores()) * SCORES).sum(1).mean(),
        lambda: (scores() * unit(SCORES)).sum(1).mean(),
        lambda: cross_entropy() + F.cosine_similarity(scores(), SCORES).mean(),
        lambda: -scores().mean(),
        lambda: scores().pow(2).mean(),
        lambda: SCORES.mean(),
    ],
    ids=[
        "rewards",
        "reward",
        "no-likelihood",
        "two-networks",
        "difference",
        "mixed",
        "pair",
        "weights",
        "length",
        "beside",
        "score",
        "penalty",
        "no-graph",
    ],
)
def test_what_may_be_meant_to_rise(loss):
    assert sign_of(loss()) is None


def test_the_classes_of_a_cross_entropy():
    assert sign_of(cross_entropy()).classes == 3
