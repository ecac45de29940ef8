"""Numberings of data sets, in real sessions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from debugtracer.observers.data.parted_maps import parts
from debugtracer.trace.facts.parted_maps import PartedMaps
from tests.observers.observing import observed

KEYS = [f"i{n}" for n in range(24)]


class Rows:
    """Numbers keys, or takes the numbers of somebody else."""

    def __init__(self, keys: list[str], ids: dict[str, int] | None = None) -> None:
        self.ids = {key: at for at, key in enumerate(keys)} if ids is None else ids


def learn(*held: Any, table: int = len(KEYS)) -> Callable[[], None]:
    def loop() -> None:
        torch.manual_seed(0)
        kept = held  # what a function holds is found
        first, second = kept[0], kept[-1]
        net = nn.Sequential(nn.Embedding(table, 5), nn.Linear(5, 1))
        optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
        for _ in range(6):
            optimizer.zero_grad()
            net(torch.randint(table, (8,))).square().mean().backward()
            optimizer.step()
        assert first is not None and second is not None

    return loop


def test_numbers_of_their_own(tmp_path: Path) -> None:
    known, other = Rows(KEYS), Rows(KEYS[::-1])
    (fact,) = observed(tmp_path / "runs", learn(known, other), PartedMaps)
    assert (fact.owner, fact.name, fact.sizes, fact.shared, fact.differ) == ("Rows", "ids", (24, 24), 24, 24)
    assert sorted(fact.numbers) == [0, 23]


def test_a_smaller_one_of_the_same_keys(tmp_path: Path) -> None:
    (fact,) = observed(tmp_path / "runs", learn(Rows(KEYS), Rows(KEYS[9:])), PartedMaps)
    assert (sorted(fact.sizes), fact.shared, fact.differ) == ([15, 24], 15, 15)


@pytest.mark.parametrize(
    ("held", "table"),
    [
        ((Rows(KEYS), Rows(KEYS, Rows(KEYS).ids)), 24),
        ((Rows(KEYS), Rows(KEYS)), 24),
        ((Rows(KEYS), Rows([*KEYS[1::-1], *KEYS[2:]])), 24),
        ((Rows(KEYS), Rows(KEYS[::-1])), 40),
        ((Rows(KEYS), Rows(KEYS[19:])), 24),
        ((Rows(KEYS), Rows([f"u{n}" for n in range(24)])), 24),
        (tuple(Rows(KEYS[at:] + KEYS[:at]) for at in range(5)), 24),
    ],
    ids=["given on", "the same", "few differ", "no weights of it", "few keys", "other keys", "one for each graph"],
)
def test_what_is_left_alone(tmp_path: Path, held: tuple[Rows, ...], table: int) -> None:
    everyone = list(held)

    def loop() -> None:
        a, b, *others = everyone
        learn(a, b, table=table)()
        assert others is not None

    if len(held) > 2:
        first, second, third, fourth, fifth = held

        def many() -> None:
            loop()
            assert None not in (first, second, third, fourth, fifth)

        assert observed(tmp_path / "runs", many, PartedMaps) == []
        return
    assert observed(tmp_path / "runs", loop, PartedMaps) == []


def test_two_languages_with_a_table_each_are_left_alone(tmp_path: Path) -> None:
    known, other = Rows(KEYS), Rows(KEYS[::-1][:20])

    def loop() -> None:
        source, target = known, other
        net = nn.ModuleList([nn.Embedding(len(source.ids), 5), nn.Embedding(len(target.ids), 5)])
        optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
        for _ in range(6):
            optimizer.zero_grad()
            both = [table(torch.randint(20, (8,))) for table in net]
            (both[0] - both[1]).square().mean().backward()
            optimizer.step()

    assert observed(tmp_path / "runs", loop, PartedMaps) == []


@pytest.mark.parametrize(
    ("shared", "differ", "smaller", "told"), [(8, 3, 10, True), (7, 7, 7, False), (8, 2, 8, False), (15, 15, 20, False)]
)
def test_at_the_limits(shared: int, differ: int, smaller: int, told: bool) -> None:
    assert parts(shared, differ, smaller) is told
