"""Where the padding index stands in the ids of a model."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn

from debugtracer.observers.data.pads_inside import stands
from debugtracer.trace.facts.pad_inside import PadInside
from tests.observers.observing import facts
from tests.watching import under_watch


class Reader(nn.Module):
    def __init__(self, pad: int | None) -> None:
        super().__init__()
        self.embed = nn.Embedding(9, 4, padding_idx=pad)

    def forward(self, ids):
        return self.embed(ids).sum()


def looked(folder: Path, pad: int | None) -> list[PadInside]:
    model = Reader(pad)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    ids = torch.tensor([[3, 0, 4, 5, 0], [2, 3, 4, 0, 0], [0, 0, 3, 0, 2], [1, 0, 0, 5, 6]])
    with under_watch(folder):
        for _ in range(2):
            optimizer.zero_grad()
            model(ids).backward()
            optimizer.step()
    return facts(folder, PadInside)


def test_alone_between_others_and_at_an_end_are_counted(tmp_path: Path) -> None:
    fact = looked(tmp_path, 0)[0]
    assert (fact.module, fact.pad, fact.rows, fact.inside, fact.ends, fact.columns) == ("embed", 0, 4, 2, 3, 2)
    assert fact.frame is not None and "nn.Embedding" in fact.frame.code


def test_without_a_padding_index_nothing_is_looked_at(tmp_path: Path) -> None:
    assert looked(tmp_path, None) == []


def test_a_block_is_not_alone() -> None:
    alone, ends = stands(torch.tensor([[1, 0, 0, 2, 0, 0]]), 0)
    assert not alone.any() and ends.tolist() == [True]


def test_of_ids_with_time_first_the_texts_are_columns(tmp_path: Path) -> None:
    model = Reader(0)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    ids = torch.tensor([[3, 2, 4, 5], [2, 3, 4, 1], [5, 0, 3, 0], [1, 0, 0, 0]])
    with under_watch(tmp_path):
        model(ids).backward()
        optimizer.step()
    (fact,) = facts(tmp_path, PadInside)
    assert (fact.inside, fact.ends) == (0, 3)


@pytest.mark.parametrize("cached", [False, True])
def test_texts_that_the_model_writes_are_no_data(tmp_path: Path, cached: bool) -> None:
    model = Reader(0)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    ids = torch.tensor([[3, 0, 4, 5, 0], [2, 3, 4, 0, 0], [0, 0, 3, 0, 2]])
    with under_watch(tmp_path):
        for _ in range(2):
            with torch.no_grad():
                for width in (2, 3, 4):
                    model(ids[:, width - 1 : width] if cached else ids[:, :width])
            optimizer.zero_grad()
            model(ids).backward()
            optimizer.step()
    assert facts(tmp_path, PadInside) == []
