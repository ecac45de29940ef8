"""Where a number stands in the arrays of a dataset, and in the file they were read from."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.utils.data import Subset

from debugtracer.callsites.stored_place import stored_place


class Table:
    """A dataset that keeps a scaled table, as windows are cut from."""

    def __init__(self, values, file=""):
        self.x = (values - values.mean(0)) / values.std(0)
        self.y = self.x
        self.file = file

    def __len__(self):
        return len(self.x) - 8


@pytest.fixture
def values():
    found = np.random.default_rng(0).normal(20, 3, (60, 3)).round(3)
    found[41, 1] = -999.0
    return found


@pytest.fixture
def file(values, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"2021-01-{i:02d},{','.join(map(str, row))}\n" for i, row in enumerate(values)]
    (tmp_path / "plant.csv").write_text("date,load,temp,out\n" + "".join(rows))
    return "plant.csv"


def test_the_row_and_the_line_of_the_file(values, file):
    data = Table(values, file)
    place = stored_place(data, float(data.x[41, 1]))
    assert (place.name, place.row, place.cell) == ("Table.x", 41, "temp is -999")
    assert (place.record.line, place.record.code.startswith("2021-01-41,")) == (43, True)
    assert stored_place(Subset(data, [0, 1]), float(data.x[41, 1])).row == 41


def test_the_last_rows_of_a_file_in_single_precision(values, file):
    data = Table(values, file)
    data.x = data.y = torch.tensor(data.x[20:], dtype=torch.float32)
    place = stored_place(data, float(data.x[21, 1]))
    assert (place.row, place.record.line) == (21, 43)


def test_a_file_with_other_numbers_is_not_told(values, file):
    data = Table(np.flip(values, 0), file)
    place = stored_place(data, float(data.x[18, 1]))
    assert (place.row, place.record) == (18, None)


def test_a_number_that_stands_twice_or_nowhere(values):
    data = Table(values)
    assert stored_place(data, 1234.0) is None
    data.y = np.concatenate([data.x[:1], data.x])
    assert stored_place(data, float(data.x[41, 1])) is None
    data.y = data.x = np.concatenate([data.x, data.x])
    assert stored_place(data, float(data.x[41, 1])) is None
