"""Views that order sizes anew, and those that split and join axes as they lie."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

from debugtracer import session
from debugtracer.observers.graph.permuted_views import is_split
from debugtracer.trace.facts.permuted_view import PermutedView
from tests.observers.told import facts
from tests.watching import under_watch

ROWS, POINTS, CHANNELS = 6, 10, 4


@pytest.fixture(autouse=True)
def _left_alone():
    yield
    session.stop()


class Net(nn.Module):
    """One layer over channels, one over points."""

    def __init__(self, through: Callable[[Net, Tensor], Tensor]) -> None:
        super().__init__()
        self.conv = nn.Conv1d(CHANNELS, 8, 1)
        self.over_points = nn.Linear(POINTS, 3)
        self.over_channels = nn.Linear(CHANNELS, CHANNELS)
        self.picture = nn.Conv2d(1, 2, (CHANNELS, 3))
        self.memory = nn.LSTM(CHANNELS, 5)
        self.through = through

    def forward(self, x: Tensor) -> Tensor:
        return self.through(self, x)


def heads(net: Net, x: Tensor) -> Tensor:
    split = x.view(ROWS, POINTS, 2, CHANNELS // 2).transpose(1, 2)
    return net.over_channels(F.softmax(split, -1).transpose(1, 2).reshape(ROWS, POINTS, CHANNELS))


def views_of_pairs(net: Net, x: Tensor) -> Tensor:
    features = net.over_channels(torch.cat([x.mean(1), x.amax(1)]))
    return features.view(ROWS, 2, -1)


def interleaved(net: Net, x: Tensor) -> Tensor:
    features = net.over_channels(torch.stack([x.mean(1), x.amax(1)], 1).view(2 * ROWS, -1))
    return features.view(ROWS, 2, -1)


def pairs_that_lie_side_by_side(net: Net, x: Tensor) -> Tensor:
    features = net.over_channels(x.flatten(0, 1)[: 2 * ROWS].clone())
    both = net.over_channels(torch.cat([features[:ROWS], torch.randn(ROWS, CHANNELS)]))
    return features.view(ROWS, 2, -1).mean() + both.mean()


def put_in_order_by_an_index(net: Net, x: Tensor) -> Tensor:
    features = net.over_channels(torch.cat([x.mean(1), x.amax(1)]))
    return features[torch.arange(2 * ROWS).view(2, ROWS).t().flatten()].view(ROWS, 2, -1)


def every_pair(net: Net, x: Tensor, put: Callable[[Tensor], Tensor], *, both: bool = False) -> Tensor:
    """Each row beside each point, in copies of both."""
    points = x.mean(0).unsqueeze(0).repeat(ROWS, 1, 1)
    rows = put(x.mean(1).unsqueeze(0).repeat(POINTS, 1, 1))
    points = put(points.transpose(0, 1).contiguous()) if both else points
    return net.over_channels(torch.cat((points, rows), 2).view(-1, 2 * CHANNELS)[:, :CHANNELS])


def beside(other: Callable[[Net], Tensor]) -> Callable[[Net, Tensor], Tensor]:
    """Points beside something else of the sizes of (points, rows), seen as (rows, points)."""
    return lambda net, x: net.over_channels(torch.cat((x, other(net).view(ROWS, POINTS, 2)), 2)[..., :CHANNELS])


def as_they_lie(copies: Tensor) -> Tensor:
    return copies.view(ROWS, POINTS, CHANNELS)


def moved(copies: Tensor) -> Tensor:
    return copies.transpose(0, 1)


MIXED = {
    "what was computed, beside others": beside(
        lambda net: net.over_channels(torch.randn(POINTS, ROWS, CHANNELS))[..., :2]
    ),
    "copies beside others": lambda net, x: every_pair(net, x, as_they_lie),
    "view": lambda net, x: net.conv(x.view(ROWS, CHANNELS, POINTS)),
    "reshape, then one channel": lambda net, x: net.over_points(x.reshape(ROWS, CHANNELS, POINTS)[:, 1, :]),
    "not put back": lambda net, x: net.over_channels(
        net.over_channels(x).transpose(1, 2).contiguous().view(ROWS, POINTS, CHANNELS)
    ),
    "rows and time": lambda net, x: net.over_channels(x.view(POINTS, ROWS, CHANNELS)).mean(0),
    "with one channel more, scaled": lambda net, x: net.picture((x.view(ROWS, CHANNELS, POINTS) / 2).unsqueeze(1)),
    "into a recurrent layer": lambda net, x: net.memory(x.view(POINTS, ROWS, CHANNELS))[0],
    "pairs": views_of_pairs,
}
HEALTHY = {
    "noise beside others": beside(lambda net: torch.randn(POINTS, ROWS, 2)),
    "a constant beside others": beside(lambda net: torch.zeros(POINTS, ROWS, 2) + 0.5),
    "a parameter beside others": beside(lambda net: nn.Parameter(torch.randn(POINTS, ROWS, 2))),
    "copies of one row beside others": beside(lambda net: torch.ones(1, 1, 2).repeat(POINTS, ROWS, 1)),
    "copies beside others": lambda net, x: every_pair(net, x, moved),
    "both sides as they lie": lambda net, x: every_pair(net, x, as_they_lie, both=True),
    "transpose": lambda net, x: net.conv(x.transpose(1, 2)),
    "heads": heads,
    "flatten": lambda net, x: net.over_channels(x.view(-1, CHANNELS)).view(ROWS, POINTS, CHANNELS),
    "undone": lambda net, x: net.over_channels(x.view(ROWS, CHANNELS, POINTS).view(ROWS, POINTS, CHANNELS)),
    "an axis of size 1": lambda net, x: net.over_points(x.mean(2).view(ROWS, POINTS, 1).view(ROWS, 1, POINTS)),
    "interleaved": interleaved,
    "put in order by an index": put_in_order_by_an_index,
    "another tensor was joined of as many rows": pairs_that_lie_side_by_side,
}


def loss_by_view(scores: Tensor) -> Tensor:
    return F.cross_entropy(scores.view(ROWS, CHANNELS, POINTS), torch.ones(ROWS, POINTS, dtype=torch.long))


def loss_by_name(scores: Tensor) -> Tensor:
    given = scores.reshape(ROWS, CHANNELS, POINTS)
    return F.cross_entropy(input=given, target=torch.ones(ROWS, POINTS, dtype=torch.long))


def loss_of_numbers(scores: Tensor) -> Tensor:
    return F.mse_loss(scores.view(ROWS, CHANNELS, POINTS), torch.ones(ROWS, CHANNELS, POINTS))


def loss_of_both(scores: Tensor) -> Tensor:
    target = torch.ones(ROWS, POINTS, CHANNELS)
    return F.mse_loss(scores.view(ROWS, CHANNELS, POINTS), target.view(ROWS, CHANNELS, POINTS))


def loss_by_permute(scores: Tensor) -> Tensor:
    return F.cross_entropy(scores.permute(0, 2, 1), torch.ones(ROWS, POINTS, dtype=torch.long))


def square(scores: Tensor) -> Tensor:
    return scores.square().mean()


def seen(tmp_path, through, loss_of=square) -> list[PermutedView]:
    with under_watch(tmp_path):
        torch.manual_seed(0)
        net = Net(through)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
        for _ in range(3):
            optimizer.zero_grad()
            loss_of(net(torch.randn(ROWS, POINTS, CHANNELS))).backward()
            optimizer.step()
    return facts(tmp_path, PermutedView)


@pytest.mark.parametrize("name", MIXED)
def test_finds_values_that_stay_where_they_were(tmp_path, name):
    (fact,) = seen(tmp_path, MIXED[name])
    assert fact.frame is not None and not fact.whole
    assert (fact.parts > 0) == (name == "pairs")
    assert bool(fact.reader) == (name != "pairs")


@pytest.mark.parametrize("name", HEALTHY)
def test_axes_that_are_split_joined_or_moved_are_no_news(tmp_path, name):
    assert not seen(tmp_path, HEALTHY[name])


@pytest.mark.parametrize("loss_of", [loss_by_view, loss_by_name, loss_of_numbers])
def test_a_loss_reads_its_axes(tmp_path, loss_of):
    (fact,) = seen(tmp_path, lambda net, x: net.over_channels(x), loss_of)
    reader = "mse_loss" if loss_of is loss_of_numbers else "cross_entropy"
    assert (fact.reader, fact.shape, fact.result) == (reader, (ROWS, POINTS, CHANNELS), (ROWS, CHANNELS, POINTS))


@pytest.mark.parametrize("loss_of", [loss_by_permute, loss_of_both])
def test_a_loss_whose_pairs_are_still_pairs_is_no_news(tmp_path, loss_of):
    assert not seen(tmp_path, lambda net, x: net.over_channels(x), loss_of)


def windows_seen(tmp_path, turn: Callable[[Tensor], Tensor], loaded: bool = False) -> list[PermutedView]:
    with under_watch(tmp_path):
        torch.manual_seed(0)
        net = nn.LSTM(1, 5)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
        series = [torch.randn(POINTS) for _ in range(ROWS)]
        for (batch,) in DataLoader(TensorDataset(torch.stack(series * 3)), ROWS):
            optimizer.zero_grad()
            net(turn(batch if loaded else torch.stack(series)))[0].square().mean().backward()
            optimizer.step()
    return facts(tmp_path, PermutedView)


@pytest.mark.parametrize("loaded", [False, True])
def test_windows_in_rows_are_no_windows_in_columns_by_a_view(tmp_path, loaded):
    (fact,) = windows_seen(tmp_path, lambda x: x.view((POINTS, ROWS, 1)), loaded)
    assert (fact.shape, fact.result, fact.reader, fact.whole) == ((ROWS, POINTS), (POINTS, ROWS, 1), "lstm", False)


@pytest.mark.parametrize(
    "turn",
    [
        lambda x: x.t().unsqueeze(-1),
        lambda x: x.view(ROWS, POINTS, 1).transpose(0, 1),
        lambda x: torch.randn(ROWS, POINTS).view(POINTS, ROWS, 1),
    ],
)
def test_windows_that_are_turned_and_noise_of_any_form_are_no_news(tmp_path, turn):
    assert not windows_seen(tmp_path, turn)


@pytest.mark.parametrize(
    ("before", "after", "split"),
    [
        ((32, 64, 8), (32, 8, 64), True),
        ((32, 8, 64), (32, 64, 8), True),
        ((64, 32, 5), (32, 64, 5), True),
        ((32, 64, 3), (32, 3, 64), False),
        ((8, 16, 16, 3), (8, 3, 16, 16), False),
        ((6, 10, 4), (10, 6, 4), False),
    ],
)
def test_sizes_that_axes_split_and_joined_as_they_lie_give_too(before, after, split):
    assert is_split(before, after) == split


def test_steps_that_are_stacked_are_marked(tmp_path):
    class Stacked(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.each = nn.Linear(16, 3)

        def forward(self, x: Tensor) -> Tensor:
            return self.each(x.reshape(len(x), 4, 16))

    with under_watch(tmp_path):
        net = Stacked()
        optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
        for _ in range(2):
            optimizer.zero_grad()
            net(torch.randn(5, 16, 4)).square().mean().backward()
            optimizer.step()
    (fact,) = facts(tmp_path, PermutedView)
    assert fact.whole
