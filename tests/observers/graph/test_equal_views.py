"""Views that are the same."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from debugtracer.trace.facts.equal_views import EqualViews
from tests.observers.told import facts, findings
from tests.watching import under_watch


def contrast(features):
    features = F.normalize(features, dim=1)
    scores = (features @ features.T / 0.5).masked_fill(torch.eye(len(features), dtype=torch.bool), -1e9)
    return F.cross_entropy(scores, torch.arange(len(features)).roll(len(features) // 2))


def a_regression(features):
    return features.square().mean()


def run(out, views, loss_of=contrast, model=None):
    torch.manual_seed(0)
    model = model or nn.Linear(12, 6)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with under_watch(out):
        for _ in range(4):
            optimizer.zero_grad()
            loss_of(model(views(torch.randn(8, 12)))).backward()
            optimizer.step()
    return facts(out, EqualViews)


def test_the_same_view_twice_is_told_in_each_look(tmp_path):
    found = run(tmp_path, lambda x: torch.cat([x, x]))
    assert [(f.ref.step, f.root, f.samples) for f in found] == [(step, "Linear", 8) for step in range(3)]
    assert [f.severity for f in findings(tmp_path, "views-equal")] == ["warning"]


def test_neighbours_count_too(tmp_path):
    assert len(run(tmp_path, lambda x: x.repeat_interleave(2, 0))) == 3


@pytest.mark.parametrize("views", [lambda x: torch.cat([x, x + 0.1 * torch.randn(8, 12)]), lambda x: x])
def test_views_that_differ_are_silent(tmp_path, views):
    assert run(tmp_path, views) == []


def test_noise_inside_the_model_makes_them_differ(tmp_path):
    assert run(tmp_path, lambda x: torch.cat([x, x]), model=nn.Sequential(nn.Dropout(0.5), nn.Linear(12, 6))) == []


def nce(one, other):
    return F.cross_entropy(one @ other.T, torch.arange(len(one)))


def two_calls(out, second, model=None, loss_of=nce):
    torch.manual_seed(0)
    model = model or nn.Linear(12, 6)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with under_watch(out):
        for _ in range(4):
            optimizer.zero_grad()
            x = torch.randn(8, 12)
            one, other = model(x), model(second(x))
            loss_of(one, other).backward()
            optimizer.step()
    return facts(out, EqualViews)


@pytest.mark.parametrize("second", [torch.clone, lambda x: x])
def test_the_same_view_in_two_calls_is_told(tmp_path, second):
    found = two_calls(tmp_path, second)
    assert [(f.ref.step, f.root, f.samples) for f in found] == [(step, "Linear", 8) for step in range(3)]


def test_another_view_in_the_second_call_is_silent(tmp_path):
    assert two_calls(tmp_path, lambda x: x + 0.1 * torch.randn(8, 12)) == []


def test_dropout_between_two_calls_makes_them_differ(tmp_path):
    assert two_calls(tmp_path, torch.clone, nn.Sequential(nn.Dropout(0.5), nn.Linear(12, 6))) == []


def test_a_loss_that_compares_no_pairs_is_silent(tmp_path):
    assert run(tmp_path, lambda x: torch.cat([x, x]), a_regression) == []


def a_kernel(one, other):
    gram = torch.exp(-0.5 * torch.cdist(one, other) ** 2) + 0.1 * torch.eye(len(one))
    return torch.linalg.cholesky(gram).diagonal().log().sum()


def moved(features):
    return F.normalize(features + 0.3 * torch.randn_like(features), dim=1)


def by_log_softmax(one, other):
    scores = F.cosine_similarity(x1=one[:, None], x2=other[None], dim=2)
    return -F.log_softmax(scores, 1).diagonal().mean()


def by_einsum(one, other):
    return nce_of(torch.einsum("nd,md->nm", F.normalize(one, dim=1), F.normalize(other, dim=1)))


def nce_of(scores):
    return F.cross_entropy(scores, torch.arange(len(scores)))


def together(one, other):
    return contrast(torch.cat([one, other]))


@pytest.mark.parametrize("second", [torch.clone, lambda x: x])
def test_a_kernel_of_a_batch_and_itself_is_silent(tmp_path, second):
    assert two_calls(tmp_path, second, loss_of=a_kernel) == []


def test_noise_on_the_outputs_makes_the_views(tmp_path):
    assert two_calls(tmp_path, lambda x: x, loss_of=lambda one, other: nce(moved(one), moved(other))) == []
    assert run(tmp_path / "halves", lambda x: torch.cat([x, x]), lambda made: contrast(moved(made))) == []


@pytest.mark.parametrize("loss_of", [by_log_softmax, by_einsum, together])
def test_other_contrastive_losses_are_told(tmp_path, loss_of):
    assert len(two_calls(tmp_path, torch.clone, loss_of=loss_of)) == 3
