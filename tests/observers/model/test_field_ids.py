"""Columns of ids and the table they go into."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from debugtracer.observers.model.field_ids import are_columns, same
from debugtracer.trace.facts.field_ids import FieldIds
from tests.observers.observing import facts
from tests.watching import under_watch

SIZES = (5, 20, 8)


class Fields(nn.Module):
    """Three fields in one table."""

    def __init__(self, offsets: tuple[int, ...] = (), convert: bool = False) -> None:
        super().__init__()
        self.table = nn.Embedding(sum(SIZES), 4)
        self.last = nn.Linear(12, 1)
        self.offsets, self.convert = offsets, convert

    def forward(self, ids: Tensor) -> Tensor:
        rows = ids.long() if self.convert else ids
        rows = rows + torch.tensor(self.offsets) if self.offsets else rows
        return self.last(self.table(rows).flatten(1))


def trained(folder: Path, model: nn.Module, draw: Any = None, steps: int = 70, rows: int = 16) -> list[FieldIds]:
    torch.manual_seed(0)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with under_watch(folder):
        for _ in range(steps):
            ids = draw() if draw else torch.stack([torch.randint(size, (rows,)) for size in SIZES], 1)
            model(ids).mean().backward()
            optimizer.step()
            optimizer.zero_grad()
    return facts(folder, FieldIds)


def test_counts_how_far_each_column_goes(tmp_path: Path):
    (fact,) = trained(tmp_path, Fields())
    assert (fact.root, fact.table, fact.size, fact.fields) == ("Fields", "table", 33, SIZES)
    assert (fact.least, fact.rows) == (0, 64 * 16)
    assert fact.frame is not None
    assert "self.table(rows)" in fact.frame.code


def test_a_conversion_is_no_offset(tmp_path: Path):
    (fact,) = trained(
        tmp_path, Fields(convert=True), lambda: torch.stack([torch.randint(s, (16,)) for s in SIZES], 1).int()
    )
    assert fact.fields == SIZES


def test_a_short_run_is_decided_at_its_end_where_there_is_enough(tmp_path: Path):
    assert len(trained(tmp_path / "enough", Fields(), steps=10)) == 1
    assert trained(tmp_path / "few", Fields(), steps=10, rows=2) == []


def test_tokens_of_one_vocabulary_are_left_after_a_few_calls(tmp_path: Path):
    assert trained(tmp_path, Fields(), lambda: torch.randint(33, (16, 3))) == []


def test_offsets_with_which_columns_meet_are_kept(tmp_path: Path):
    (fact,) = trained(tmp_path / "apart", Fields(offsets=(0, 5, 20)))
    assert (fact.offsets, fact.fields, fact.size) == ((0, 5, 20), SIZES, 33)
    (fact,) = trained(tmp_path / "none", Fields(offsets=(0, 0, 0)))
    assert fact.offsets == ()


class Placed(Fields):
    """Computes the offsets itself."""

    def __init__(self, sizes: tuple[int, ...]) -> None:
        super().__init__()
        self.register_buffer("begins", torch.tensor((0, *sizes[:-1])))

    def forward(self, ids: Tensor) -> Tensor:
        ids = ids + self.begins
        return self.last(self.table(ids).flatten(1))


def test_the_line_that_made_the_offsets(tmp_path: Path):
    (fact,) = trained(tmp_path / "own", Placed((5, 6, 8)))
    assert fact.offsets == (0, 5, 6)
    assert fact.made is not None
    assert fact.made.code.startswith('self.register_buffer("begins"')
    (fact,) = trained(tmp_path / "handed", Fields(offsets=(0, 5, 20)))
    assert fact.made is None


def test_offsets_and_models_without_columns_are_left_out(tmp_path: Path):
    assert trained(tmp_path / "offsets", Fields(offsets=(0, 5, 25))) == []
    assert trained(tmp_path / "floats", nn.Linear(3, 1), lambda: torch.randn(8, 3)) == []


@pytest.mark.parametrize(
    ("ids", "are"),
    [
        (torch.zeros(4, 3, dtype=torch.long), True),
        (torch.zeros(4, 3), False),
        (torch.zeros(4, dtype=torch.long), False),
        (torch.zeros(4, 1, dtype=torch.long), False),
        (torch.zeros(0, 3, dtype=torch.long), False),
        (torch.zeros(4, 3, dtype=torch.long, device="meta"), False),
        (torch.zeros(4, 3, dtype=torch.long).to_sparse(), False),
    ],
)
def test_columns_of_ids(ids, are):
    assert are_columns(ids) is are


def test_the_same_ids():
    ids = torch.tensor([[1, 2], [3, 4]])
    assert same(ids, ids.int())
    assert not same(ids + 1, ids)
    assert not same(ids, ids[:1])
