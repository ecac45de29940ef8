"""Tables of names and ids in the datasets of real loops."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset, Subset

from debugtracer.trace.facts.other_numbers import OtherNumbers
from tests.observers.observing import fit, observed

NAMES = [f"name{i}" for i in range(12)]
OWN = {name: i for i, name in enumerate(NAMES)}
OTHER = {name: i for i, name in enumerate(reversed(NAMES))}
COUNTS = dict.fromkeys(NAMES, 3)


class Words:
    """Holds a table, as a vocabulary does."""

    def __init__(self, table: Mapping[str, int]) -> None:
        self.table = table


class Rows(Dataset[Any]):
    """Some rows with a table of names, in itself and in its vocabulary."""

    def __init__(self, table: Mapping[str, int], held: bool, count: int = 24) -> None:
        self.x = torch.randint(0, 12, (count, 3), generator=torch.Generator().manual_seed(1))
        if held:
            self.vocabulary = Words(table)
        else:
            self.ids = table

    def __len__(self) -> int:
        return len(self.x)

    def __getitem__(self, index: int) -> tuple[Tensor, int]:
        return self.x[index], index % 2


def reader() -> nn.Module:
    """Reads ids."""
    return nn.Sequential(nn.EmbeddingBag(16, 4), nn.Linear(4, 2))


def evaluate(model: nn.Module, loader: Any) -> None:
    """One pass without gradients."""
    with torch.no_grad():
        for x, _ in loader:
            model(x)


def told(out: Path, train: Dataset[Any], other: Dataset[Any], passes: int = 2) -> list[OtherNumbers]:
    """The facts of a loop that trains on the one and evaluates on the other after each epoch."""

    def loop() -> None:
        model = reader()
        mine, theirs = DataLoader(train, 8, shuffle=True), DataLoader(other, 8)
        for _ in range(passes):
            fit(mine, model)
            evaluate(model, theirs)

    return observed(out, loop, OtherNumbers)


@pytest.mark.parametrize("held", [True, False])
def test_another_id_for_the_same_name_is_told(tmp_path: Path, held: bool) -> None:
    (fact,) = told(tmp_path, Rows(OWN, held), Subset(Rows(OTHER, held, 40), range(20)))
    assert (fact.attribute, fact.dataset) == ("vocabulary.table" if held else "ids", "Rows")
    assert (fact.common, fact.differ, fact.name, fact.trained, fact.evaluated) == (12, 12, "name0", 0, 11)
    assert fact.loader is not None and "DataLoader(other, 8)" in fact.loader.code


@pytest.mark.parametrize("table", [OWN, OWN | {"more": 12}, COUNTS, {"a": 0, "b": 1}])
def test_the_same_ids_counts_and_other_names_are_left_alone(tmp_path: Path, table: dict[str, int]) -> None:
    assert told(tmp_path, Rows(OWN, held=True), Rows(table, held=True)) == []


def test_a_table_with_one_name_for_each_sample_is_left_alone(tmp_path: Path) -> None:
    assert told(tmp_path, Rows(OWN, held=True), Rows(OTHER, held=True, count=12)) == []


def test_two_datasets_that_are_both_trained_on_are_left_alone(tmp_path: Path) -> None:
    def loop() -> None:
        for table in (OWN, OTHER):
            fit(DataLoader(Rows(table, held=True), 8), reader(), passes=2)

    assert observed(tmp_path, loop, OtherNumbers) == []


def test_a_table_whose_ids_no_model_is_given_is_left_alone(tmp_path: Path) -> None:
    class Measured(Rows):
        def __getitem__(self, index: int) -> tuple[Tensor, int]:
            return self.x[index].float(), index % 2

    def loop() -> None:
        model, mine, theirs = nn.Linear(3, 2), Measured(OWN, held=True), Measured(OTHER, held=True)
        for _ in range(2):
            fit(DataLoader(mine, 8), model)
            with torch.no_grad():
                for x, names in DataLoader(theirs, 8):
                    nn.TripletMarginLoss()(model(x), model(x), model(x)), nn.Identity()(names)

    assert observed(tmp_path, loop, OtherNumbers) == []
