"""Networks that begin anew beside one that is updated and read by nothing."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn

from debugtracer.trace.facts.fresh_start import FreshStart
from tests.observers.told import facts
from tests.watching import under_watch

WIDTH = 24


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, WIDTH)
        self.inner = nn.Linear(WIDTH, WIDTH)
        self.last = nn.Linear(WIDTH, 1)

    def forward(self, x):
        return self.last(self.inner(self.first(x).tanh()).tanh())

    def clone(self):
        fresh = Net()
        return fresh


def loaded(old):
    new = old.clone()
    new.load_state_dict(old.state_dict())
    return new


def noisy(old):
    new = copy.deepcopy(old)
    with torch.no_grad():
        for p in new.parameters():
            p.add_(torch.randn_like(p), alpha=float(p.norm()) / p.numel() ** 0.5)
    return new


def own_head(old):
    new = old.clone()
    new.inner.load_state_dict(old.inner.state_dict())
    return new


def learn(net, optimizer, updates=3):
    for _ in range(updates):
        x = torch.randn(8, 4)
        optimizer.zero_grad()
        nn.functional.mse_loss(net(x), x.sum(1, keepdim=True)).backward()
        optimizer.step()


def tasks(out, copied, *, called=False, outer=True, missed=False, turns=4):
    torch.manual_seed(3)
    with under_watch(out) as session:
        common = Net()
        slow = torch.optim.SGD(common.parameters(), lr=0.5)
        for _ in range(turns):
            local = copied(common)
            fast = torch.optim.Adam(local.parameters(), lr=0.01)
            learn(local, fast)
            if missed:
                session.dispatcher.missed()
            if called:
                common(torch.zeros(1, 4))
            for p, q in zip(common.parameters(), local.parameters(), strict=True):
                p.grad = (p - q).detach()
            if outer:
                slow.step()
    return facts(out, FreshStart)


def test_copies_that_copy_nothing_are_told_once(tmp_path):
    (fact,) = tasks(tmp_path, Net.clone)
    assert (fact.kind, fact.updates, fact.networks) == ("SGD", 2, 2)
    assert fact.original is not None and fact.original.code == "common = Net()"
    assert fact.frame is not None and fact.frame.code.startswith("slow = ")
    assert abs(float(fact.near)) < 0.3


@pytest.mark.parametrize("copied", [loaded, copy.deepcopy, noisy, own_head])
def test_copies_with_its_values_or_some_of_them_are_left_alone(tmp_path, copied):
    assert tasks(tmp_path, copied) == []


def test_a_network_that_is_called_or_never_updated_is_left_alone(tmp_path):
    assert tasks(tmp_path, Net.clone, called=True) == []
    assert tasks(tmp_path / "other", Net.clone, outer=False) == []


def test_nothing_is_told_where_a_forward_may_have_been_missed(tmp_path):
    assert tasks(tmp_path, Net.clone, missed=True) == []


def test_a_lazy_layer_has_no_shape_yet(tmp_path):
    with under_watch(tmp_path):
        model = nn.Sequential(nn.LazyLinear(8), nn.Linear(8, 1))
        learn(model, torch.optim.SGD(model.parameters(), lr=0.1))
    assert facts(tmp_path, FreshStart) == []


def test_networks_that_are_trained_one_after_the_other_are_none(tmp_path):
    with under_watch(tmp_path):
        final = Net()
        last = torch.optim.SGD(final.parameters(), lr=0.1)
        for _ in range(4):
            fold = Net()
            learn(fold, torch.optim.SGD(fold.parameters(), lr=0.1))
            final.load_state_dict(fold.state_dict())
        learn(final, last)
    assert facts(tmp_path, FreshStart) == []


def test_weights_without_a_module_are_read_where_a_backward_reaches_them(tmp_path):
    with under_watch(tmp_path):
        for _ in range(4):
            weights = [torch.randn(20, 20, requires_grad=True), torch.randn(20, 20, requires_grad=True)]
            optimizer = torch.optim.SGD(weights, lr=0.01)
            for _ in range(3):
                optimizer.zero_grad()
                (torch.randn(4, 20) @ weights[0] @ weights[1]).pow(2).mean().backward()
                optimizer.step()
    assert facts(tmp_path, FreshStart) == []
