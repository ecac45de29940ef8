"""Loaders that have no batch to give."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset, Subset, TensorDataset

from debugtracer.trace.facts.batchless_loader import BatchlessLoader
from tests.observers.told import facts, findings
from tests.watching import under_watch

ROWS = TensorDataset(torch.rand(24, 3), torch.rand(24, 1))


class Stream(IterableDataset):
    """Has no length, and nothing in it."""

    def __iter__(self):
        return iter(())


def run(out, held, epochs=3):
    model = nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with under_watch(out):
        for _ in range(epochs):
            for given, wanted in DataLoader(ROWS, 8):
                optimizer.zero_grad()
                nn.functional.mse_loss(model(given), wanted).backward()
                optimizer.step()
            for given, _ in held() if callable(held) else held:
                model(given)
    return [(f.dataset, f.rows, f.batch_size) for f in facts(out, BatchlessLoader)]


def test_fewer_rows_than_a_batch_that_is_dropped_are_told_once(tmp_path):
    assert run(tmp_path, DataLoader(Subset(ROWS, range(6)), 8, drop_last=True)) == [("Subset", 6, 8)]
    assert [f.severity for f in findings(tmp_path, "loader-batchless")] == ["warning"]


def test_a_loader_that_each_epoch_builds_anew_is_told_once(tmp_path):
    assert run(tmp_path, lambda: DataLoader(Subset(ROWS, range(6)), 8, drop_last=True)) == [("Subset", 6, 8)]
    assert [f.severity for f in findings(tmp_path, "loader-batchless")] == ["warning"]


def test_no_rows_at_all_are_told(tmp_path):
    assert run(tmp_path, DataLoader(Subset(ROWS, []), 8)) == [("Subset", 0, 8)]


@pytest.mark.parametrize(
    "held",
    [
        DataLoader(Subset(ROWS, range(6)), 8),
        DataLoader(Subset(ROWS, range(9)), 8, drop_last=True),
        DataLoader(Stream(), None),
    ],
)
def test_a_short_batch_and_a_stream_are_silent(tmp_path, held):
    assert run(tmp_path, held) == []
