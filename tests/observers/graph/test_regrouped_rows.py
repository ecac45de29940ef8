"""Rows that are taken apart in another order than they were made, in real sessions."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from debugtracer import session
from debugtracer.observers.graph.regrouped_rows import leaves_rows
from debugtracer.trace.facts.permuted_view import PermutedView
from tests.observers.told import facts, findings
from tests.watching import under_watch

WAYS, SHOTS, QUERIES, SIZE = 4, 3, 2, 5


@pytest.fixture(autouse=True)
def _left_alone():
    yield
    session.stop()


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(SIZE, 6), nn.ReLU(), nn.Linear(6, 6))

    def forward(self, x):
        return self.layers(x)


def together(net, shots, queries):
    rows = torch.cat([shots.view(WAYS * SHOTS, SIZE), queries.view(WAYS * QUERIES, SIZE)])
    encoded = net(rows)
    return encoded[: WAYS * SHOTS], encoded[WAYS * SHOTS :]


def mixed(net, shots, queries):
    support, asked = together(net, shots, queries)
    return support.view(SHOTS, WAYS, -1).mean(0), asked


def alone(net, shots, queries):
    return F.normalize(net(shots.reshape(-1, SIZE)), dim=-1).reshape(SHOTS, WAYS, 6).mean(dim=1), None


def exchanged(net, shots, queries):
    rows = shots.reshape(-1, SIZE)
    layers = net.layers
    heard = layers[2]((layers[1](layers[0](rows)) + 1e-6).unsqueeze(1).permute(0, 2, 1).squeeze(-1))
    weighed = (torch.eye(6) @ (heard * torch.softmax(heard, 1)).unsqueeze(2)).squeeze(2)
    groups = weighed.reshape(SHOTS, WAYS, 6).transpose(1, 0).squeeze(2)
    return groups[:, 1:].mean(1) - groups[:, 0], None


def exchanged_before(net, shots, queries):
    rows = net(shots.transpose(0, 1).reshape(-1, SIZE)) * 2
    groups = rows.reshape(SHOTS, WAYS, 6).transpose(1, 0)
    return groups[:, 1:].mean(1) - groups[:, 0], None


def put_in_order(net, shots, queries):
    rows = (net(shots.reshape(-1, SIZE)) * 2).view(WAYS, SHOTS, 6).transpose(0, 1).reshape(-1, 6)
    return rows.view(SHOTS, WAYS, 6).transpose(0, 1)[:, :2].mean(1), None


def taken(net, shots, queries):
    rows = net(shots.reshape(-1, SIZE))[torch.arange(WAYS * SHOTS).view(WAYS, SHOTS).T.reshape(-1)]
    return rows.view(SHOTS, WAYS, 6).transpose(0, 1).mean(1), None


def right(net, shots, queries):
    support, asked = together(net, shots, queries)
    return support.view(WAYS, SHOTS, -1).mean(1), asked


def turned(net, shots, queries):
    rows = shots.transpose(0, 1).reshape(SHOTS * WAYS, SIZE)
    return net(rows).view(SHOTS, WAYS, -1).mean(0), None


def over_features(net, shots, queries):
    support, asked = together(net, shots, queries)
    return support.view(SHOTS, WAYS, -1).mean(2), asked


def repeated(net, shots, queries):
    encoded = net(queries.reshape(-1, SIZE))
    return encoded.repeat(SHOTS, 1).view(SHOTS, WAYS * QUERIES, -1).mean(0), None


def in_groups(net, shots, queries):
    groups = net(shots.reshape(-1, SIZE)).view(SHOTS, 1, WAYS, 6)
    return groups - groups.mean(2, keepdim=True), None


def no_rows_of_two(net, shots, queries):
    return net(torch.randn(WAYS * SHOTS, SIZE)).view(SHOTS, WAYS, -1).mean(0), None


def told(out, make):
    torch.manual_seed(0)
    net = Encoder()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    with under_watch(out):
        for _ in range(3):
            shots, queries = torch.randn(WAYS, SHOTS, SIZE), torch.randn(WAYS, QUERIES, SIZE)
            optimizer.zero_grad()
            make(net, shots, queries)[0].square().mean().backward()
            optimizer.step()
    return [f for f in facts(out, PermutedView) if f.flattened], findings(out, "view-permuted")


@pytest.mark.parametrize("make", [mixed, alone, exchanged])
def test_rows_that_are_averaged_in_another_order_are_told(tmp_path, make):
    (fact,), said = told(tmp_path, make)
    assert (fact.flattened, fact.result, fact.reader) == ((WAYS, SHOTS), (SHOTS, WAYS, 6), "mean")
    assert [f.severity for f in said] == ["warning"]
    assert f"rows that were made of {(WAYS, SHOTS)}, one after another, apart as {(SHOTS, WAYS)}" in said[0].message


@pytest.mark.parametrize(
    "make",
    [right, turned, over_features, repeated, in_groups, no_rows_of_two, exchanged_before, put_in_order, taken],
)
def test_rows_in_their_order_are_silent(tmp_path, make):
    assert told(tmp_path, make) == ([], [])


def test_what_was_followed_is_forgotten_when_steps_were_missed(tmp_path):
    with under_watch(tmp_path) as watched:
        observer = watched.dispatcher.observers["regrouped-rows"]
        rows = torch.randn(WAYS, SHOTS, SIZE).view(WAYS * SHOTS, SIZE)
        apart = rows.view(SHOTS, WAYS, SIZE)
        assert observer.flat and observer.regrouped and apart.dim() == 3
        watched.dispatcher.missed()
        assert not (observer.flat or observer.regrouped)


def test_only_axes_behind_the_first_leave_the_rows():
    rows = torch.zeros(6, 2, 3)
    assert leaves_rows("transpose", (rows, -1, 1), {}) and not leaves_rows("transpose", (rows, 0, 1), {})
    assert leaves_rows("permute", (rows, 0, 2, 1), {}) and not leaves_rows("permute", (rows, 1, 0, 2), {})
    assert leaves_rows("mean", (rows,), {"dim": 1}) and not leaves_rows("mean", (rows, -3), {})
    assert leaves_rows("unsqueeze", (rows, -3), {}) and not leaves_rows("unsqueeze", (rows, -4), {})
    assert not leaves_rows("sum", (rows,), {})
