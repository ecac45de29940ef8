"""Overlaps of predictions and masks, in real loops."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from debugtracer.trace.facts.overlap_loss import OverlapLoss
from tests.observers.told import facts
from tests.watching import under_watch


def run(out, loss_of, mask=None):
    torch.manual_seed(0)
    model = nn.Conv2d(1, 1, 3, padding=1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with under_watch(out):
        for _ in range(2):
            x = torch.randn(4, 1, 6, 6)
            loss = loss_of(model(x), (x > 0).float() if mask is None else mask)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return [(fact.ref.step, fact.layer, fact.falls, fact.frame.function) for fact in facts(out, OverlapLoss)]


def dice(p, t):
    return (2 * (p * t).sum() + 1) / (p.sum() + t.sum() + 1)


def union(p, t):
    p, t = p.flatten(1), t.flatten(1)
    both = (p * t).sum(1)
    return ((both + 1) / (p.sum(1) + t.sum(1) - both + 1)).mean()


def squares(p, t):
    return 2 * (p * t).sum() / (p.pow(2).sum() + t.sum())


OVERLAPS = pytest.mark.parametrize("overlap", [dice, union, squares])


@OVERLAPS
def test_scores(overlap, tmp_path):
    said = run(tmp_path, lambda s, t: 1 - overlap(s, t))
    assert said == [(step, "convolution", False, overlap.__name__) for step in (0, 1)]


@OVERLAPS
def test_an_overlap_that_is_made_smaller(overlap, tmp_path):
    said = run(tmp_path, lambda s, t: F.binary_cross_entropy_with_logits(s, t) + 0.5 * overlap(s.sigmoid(), t))
    assert said == [(step, "", True, overlap.__name__) for step in (0, 1)]


@OVERLAPS
def test_one_less_the_overlap_of_probabilities_is_silent(overlap, tmp_path):
    assert run(tmp_path / "a", lambda s, t: 1 - overlap(s.sigmoid(), t)) == []
    assert run(tmp_path / "b", lambda s, t: -torch.log(overlap(s.sigmoid(), t))) == []
    assert run(tmp_path / "c", lambda s, t: -overlap(s.sigmoid(), t) + s.sigmoid().mean()) == []


def masked_mean(s, t):
    return (s.square() * t).sum() / t.sum()


def weighed(s, t):
    return 1 - dice(s, t * 0.5)


def of_two_outputs(s, t):
    return 1 - (2 * (s * s.detach()).sum()) / (s.sum() + t.sum())


def turned_by_a_tensor(s, t):
    return dice(s.sigmoid(), t) * (s.detach().mean() - 1)


def share_outside(s, t):
    p = s.sigmoid()
    return (p * t).sum() / (p.sum() + 1e-6)


@pytest.mark.parametrize("loss_of", [masked_mean, share_outside, weighed, of_two_outputs, turned_by_a_tensor])
def test_everything_else_is_silent(loss_of, tmp_path):
    assert run(tmp_path, loss_of) == []


def test_a_mask_of_ones_is_none(tmp_path):
    assert run(tmp_path, lambda s, t: 1 - dice(s, t), torch.ones(4, 1, 6, 6)) == []


def test_a_step_that_was_not_seen_to_its_end_is_forgotten(tmp_path):
    model = nn.Linear(6, 4)
    with under_watch(tmp_path) as session:
        observer = session.dispatcher.observers["overlap-losses"]
        dice(model(torch.randn(8, 6)), torch.ones(8, 4))
        assert observer.quotients and observer.products
        session.dispatcher.missed()
        assert not observer.quotients and not observer.products
