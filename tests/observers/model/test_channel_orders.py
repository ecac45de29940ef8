"""Channels of training and of evaluations in real loops."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

from debugtracer.trace.facts.channel_order import ChannelOrder
from tests.observers.observing import observed

MEANS = torch.tensor([0.2, 0.5, 0.8])


def pictures(count: int) -> Tensor:
    return MEANS[:, None, None] + 0.1 * torch.randn(count, 3, 1, 1) + 0.05 * torch.randn(count, 3, 6, 6)


def normalised(count: int) -> Tensor:
    colours = torch.tensor([0.3, 0.1, 0.05])[:, None, None] * torch.randn(count, 3, 1, 1)
    return MEANS[:, None, None] + colours + 0.05 * torch.randn(count, 3, 6, 6)


def rows(count: int) -> Tensor:
    return torch.tensor([1.0, 5.0, 9.0, 20.0]) + torch.tensor([0.5, 1.0, 0.5, 3.0]) * torch.randn(count, 4)


def categories(count: int) -> Tensor:
    return nn.functional.one_hot((torch.rand(count) < 0.9).long() * 2, 3).float()


def shares(count: int) -> Tensor:
    one = 0.3 + 0.1 * torch.randn(count, 1)
    return torch.cat([one, 1 - one, torch.randn(count, 2)], 1)


def told(out: Path, make: Callable[[int], Tensor], change: Callable[[Tensor], Tensor]) -> list[ChannelOrder]:
    """The facts of a loop whose evaluation changes what it is given."""
    torch.manual_seed(2)
    width = make(1).flatten(1).shape[1]

    def loop() -> None:
        model = nn.Sequential(nn.Flatten(), nn.Linear(width, 2))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        for _ in range(2):
            model.train()
            for _ in range(4):
                optimizer.zero_grad()
                model(make(16)).square().mean().backward()
                optimizer.step()
            model.eval()
            with torch.no_grad():
                for _ in range(3):
                    model(change(make(16)))

    return observed(out, loop, ChannelOrder)


def test_turned_colours_are_told(tmp_path: Path) -> None:
    (fact,) = told(tmp_path, pictures, lambda x: x.flip(1))
    assert (fact.root, fact.pictures, fact.places, fact.alike) == ("Sequential", True, (0, 2), (2, 0))
    assert not fact.loaded
    assert fact.called is not None and "model(change" in fact.called.code


def test_turned_colours_are_told_where_each_place_has_its_own_mean(tmp_path: Path) -> None:
    offset = MEANS[:, None, None]
    (fact,) = told(tmp_path, lambda n: normalised(n) - offset, lambda x: (x + offset).flip(1) - offset)
    assert (fact.places, fact.alike) == ((0, 2), (2, 0))


def test_columns_in_another_order_are_told(tmp_path: Path) -> None:
    (fact,) = told(tmp_path, rows, lambda x: x[:, [1, 2, 0, 3]])
    assert (fact.pictures, fact.places, fact.alike) == (False, (0, 1, 2), (1, 2, 0))


@pytest.mark.parametrize(
    ("make", "change"),
    [
        (pictures, lambda x: x),
        (pictures, lambda x: x * 0.3),
        (pictures, lambda x: x + 0.3),
        (normalised, lambda x: x * torch.tensor([0.3, 1.0, 1.0])[:, None, None]),
        (pictures, lambda x: 1 - x + torch.tensor([0.0, 0.3, 0.0])[:, None, None]),
        (rows, lambda x: x[:, [0, 1, 1, 3]]),
        (rows, lambda x: (x - x.mean(0)) / x.std(0)),
        (categories, lambda x: x.flip(1)),
        (shares, lambda x: x[:, [1, 0, 2, 3]]),
    ],
    ids=[
        "the same",
        "darker",
        "brighter",
        "one darker",
        "other colours",
        "one twice",
        "scaled",
        "rarer",
        "other shares",
    ],
)
def test_other_differences_are_left_alone(
    tmp_path: Path, make: Callable[[int], Tensor], change: Callable[[Tensor], Tensor]
) -> None:
    assert told(tmp_path, make, change) == []


def test_a_loader_of_its_own_is_told_of(tmp_path: Path) -> None:
    def loop() -> None:
        torch.manual_seed(2)
        model = nn.Sequential(nn.Flatten(), nn.Linear(108, 2))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        mine, theirs = (DataLoader(TensorDataset(x), 16) for x in (pictures(64), pictures(48).flip(1)))
        for _ in range(2):
            model.train()
            for (x,) in mine:
                optimizer.zero_grad()
                model(x).square().mean().backward()
                optimizer.step()
            model.eval()
            with torch.no_grad():
                for (x,) in theirs:
                    model(x)

    (fact,) = observed(tmp_path, loop, ChannelOrder)
    assert fact.loaded
