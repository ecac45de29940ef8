"""Tables of datasets that were scaled by their own statistics, under a real session."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader, Dataset, Subset, TensorDataset

from debugtracer.observers.data.own_scales import mark_of, own_scaled
from debugtracer.trace.facts.own_scale import OwnScale
from tests.observers.observing import fit, observed

ROWS = torch.linspace(0, 40, 300).sin().reshape(100, 3) * torch.tensor([1.0, 2.0, 5.0]) + 3
LABELS = torch.arange(100) % 2


def standardised(rows):
    return (rows - rows.mean(0)) / rows.std(0)


class Table(Dataset):
    """Rows of an array, cast as they are fetched."""

    def __init__(self, rows):
        self.rows = rows

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return torch.tensor(self.rows[index], dtype=torch.float32), LABELS[index]


def loop(dataset):
    return lambda: fit(DataLoader(dataset(), batch_size=20))


def of_tensors():
    known = standardised(ROWS)
    fit(DataLoader(TensorDataset(known, LABELS), batch_size=20))


def of_arrays():
    array = ROWS.double().numpy()
    known = (array - array.mean(0)) / array.std(0)
    fit(DataLoader(Table(known), batch_size=20))


@pytest.mark.parametrize(
    ("run", "code"),
    [(of_tensors, "known = standardised(ROWS)"), (of_arrays, "known = (array - array.mean(0)) / array.std(0)")],
)
def test_a_table_that_was_scaled_by_itself(tmp_path, run, code):
    (fact,) = observed(tmp_path / "runs", run, OwnScale)
    assert (fact.number, fact.path, fact.rows, fact.columns, fact.of) == (0, "batch[0]", 100, 3, 3)
    assert fact.frame is not None and fact.frame.code == code


@pytest.mark.parametrize(
    "dataset",
    [
        lambda: TensorDataset(ROWS, LABELS),
        lambda: TensorDataset((ROWS - ROWS[:80].mean(0)) / ROWS[:80].std(0), LABELS),
        lambda: TensorDataset(standardised(ROWS)[:80], LABELS[:80]),
        lambda: Subset(TensorDataset(standardised(ROWS), LABELS), range(60)),
        lambda: Table(np.asarray(standardised(ROWS))[:30]),
        lambda: TensorDataset(standardised(ROWS.T).T, LABELS),
        lambda: TensorDataset(torch.cat([standardised(ROWS[:40]), standardised(ROWS[40:])]), LABELS),
    ],
    ids=["raw", "statistics-of-a-part", "cut-afterwards", "subset", "few", "row-by-row", "part-by-part"],
)
def test_what_is_not_scaled_by_itself(tmp_path, dataset):
    assert observed(tmp_path / "runs", loop(dataset), OwnScale) == []


def test_columns_that_stand_still_or_were_left_as_they_were_do_not_count():
    flags = torch.stack([torch.ones(100), LABELS.float()], 1)
    assert own_scaled(torch.cat([standardised(ROWS), flags], 1)) == (3, 4)


def test_a_copy_of_a_table_is_known():
    assert mark_of(ROWS) == mark_of(ROWS.clone()) != mark_of(ROWS[:80])
