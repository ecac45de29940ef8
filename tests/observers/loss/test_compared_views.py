"""Losses that draw two outputs with a graph together, in real loops."""

from __future__ import annotations

import weakref

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from debugtracer.trace.facts.compared_views import ComparedViews
from debugtracer.trace.number import as_float
from tests.observers.told import facts
from tests.watching import under_watch


def run(out, compare, steps=3):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 5))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with under_watch(out):
        for _ in range(steps):
            x = torch.randn(16, 6)
            loss = compare(model(x), model(x + 0.1 * torch.randn(16, 6)))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return facts(out, ComparedViews)


def cosine(a, b):
    return -F.cosine_similarity(a, b).mean()


def squared(a, b):
    return F.mse_loss(a, b)


def by_keyword(a, b):
    return F.l1_loss(input=a, target=b)


def by_hand(a, b):
    return -(F.normalize(a, dim=1) * F.normalize(b, dim=1)).sum(1).mean()


@pytest.mark.parametrize("compare", [cosine, squared, by_keyword, by_hand])
def test_both_sides_with_a_graph(compare, tmp_path):
    found = run(tmp_path, compare)
    assert [fact.ref.step for fact in found] == [0, 1, 2]
    assert found[0].frame.function == compare.__name__ and found[0].rows == 16
    assert -1 / 15 - 1e-6 <= as_float(found[0].alike) < 0.95


def of_lengths(a, b):
    return F.mse_loss(a * 0 + torch.arange(16.0)[:, None] * torch.ones(5), b * 0 + torch.arange(16.0)[:, None])


def test_rows_of_one_direction_and_many_lengths_differ(tmp_path):
    assert as_float(run(tmp_path, of_lengths, 1)[0].alike) < 0.9


def one_way(a, b):
    return F.mse_loss(a * 0 + torch.arange(5.0), b)


def test_the_side_that_still_tells_samples_apart_counts(tmp_path):
    (fact,) = run(tmp_path, one_way, 1)
    assert as_float(fact.alike) < 0.95 and as_float(fact.most_alike) == pytest.approx(1.0, abs=1e-5)


def all_one_way(a, b):
    return F.mse_loss(a * 0 + torch.arange(5.0), b * 0 + torch.ones(5))


def test_rows_that_point_one_way_on_both_sides(tmp_path):
    assert as_float(run(tmp_path, all_one_way, 1)[0].alike) == pytest.approx(1.0, abs=1e-5)


def detached(a, b):
    return -F.cosine_similarity(a, b.detach()).mean()


def to_targets(a, b):
    return F.mse_loss(a, torch.zeros(16, 5)) + b.square().mean()


def every_pair(a, b):
    return F.cross_entropy(F.normalize(a, dim=1) @ F.normalize(b, dim=1).T, torch.arange(16))


def itself(a, b):
    return F.mse_loss(a, a) + b.square().mean()


def weighted(a, b):
    return (a * b).sum()


def one_number(a, b):
    return F.mse_loss(a[:, :1], b[:, :1])


def nested(a, b):
    one, other = (torch.nested.as_nested_tensor(list(side), layout=torch.strided) for side in (a, b))
    return torch.nested.to_padded_tensor(one * other, 0.0).sum()


class Marked(torch.Tensor):
    """A class of the program's own: nothing is known of its values."""


def of_its_own(a, b):
    return F.mse_loss(a.as_subclass(Marked), b.as_subclass(Marked))


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested")
@pytest.mark.parametrize(
    "compare", [detached, to_targets, every_pair, itself, weighted, one_number, nested, of_its_own]
)
def test_everything_else_is_silent(compare, tmp_path):
    assert run(tmp_path, compare) == []


def test_nothing_is_kept_beyond_the_step(tmp_path):
    kept = []

    def noted(a, b):
        kept[:] = [weakref.ref(a), weakref.ref(b)]
        return squared(a, b)

    run(tmp_path, noted, 1)
    assert [reference() for reference in kept] == [None, None]


def test_a_step_that_was_not_seen_to_its_end_is_forgotten(tmp_path):
    torch.manual_seed(0)
    model = nn.Linear(6, 5)
    with under_watch(tmp_path) as session:
        observer = session.dispatcher.observers["compared-views"]
        by_hand(model(torch.randn(8, 6)), model(torch.randn(8, 6)))
        assert observer.pairs and observer.unit
        session.dispatcher.missed()
        assert not observer.pairs and not observer.unit


def test_weights_that_are_written_through_a_view_are_no_side(tmp_path):
    def initial(a, b):
        weight = nn.Parameter(torch.zeros(4, 4))
        nn.init.orthogonal_(weight)
        with torch.no_grad():
            rows = weight.view(4, 4)
            rows.copy_(torch.eye(4))
            F.mse_loss(rows, rows * 2)
            assert rows.detach() is not None
        return cosine(a, b.detach())

    assert run(tmp_path, initial) == []
