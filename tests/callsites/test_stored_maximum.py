"""The one number that is the maximum of a stored array by far."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch.utils.data import Subset, TensorDataset

from debugtracer.callsites.stored_maximum import is_scaled, read_as, stored_maximum

ROWS, COLUMNS, PAST = 200, 3, 5


def a_table(code=9999.0, row=60, column=1):
    table = 50 + 10 * np.random.default_rng(0).standard_normal((ROWS, COLUMNS)).astype(np.float32)
    if code:
        table[row, column] = code
    return table


class Kept:
    def __init__(self, values, file=None):
        self.values, self.file = values, file

    def __len__(self):
        return len(self.values)


def windows(table):
    cut = [torch.as_tensor(table[n : n + PAST]) for n in range(ROWS - PAST)]
    return TensorDataset(torch.stack(cut), torch.as_tensor(table[PAST:]))


def test_it_is_found_in_a_table_and_in_the_windows_that_overlap():
    scaled = a_table() / a_table().max()
    found = stored_maximum(Kept(scaled))
    assert found is not None and (found.name, found.row, found.column, found.samples) == ("Kept.values", 60, 1, (60,))
    assert 0 < found.low < found.high < 0.01
    cut = stored_maximum(windows(scaled))
    assert cut is not None and (cut.name, cut.row, cut.column) == ("TensorDataset.tensors[0]", 60, 1)
    assert cut.samples == tuple(range(55, 61))  # the targets show it, too
    part = stored_maximum(Subset(windows(scaled), list(range(100))))
    assert part is not None and part.samples == ()  # a part of them has other indices


@pytest.mark.parametrize(
    "values",
    [
        a_table(0) / a_table(0).max(),
        a_table(),  # not divided
        np.eye(200, dtype=np.float32)[:, :3],
        np.where(np.arange(600).reshape(200, 3) == 7, 1.0, 0.001),  # nothing that was measured
        np.concatenate([a_table() / 9999, np.ones((2, 3), np.float32)]),  # no single place
    ],
    ids=["its own scale", "not divided", "one-hot", "a switch", "several"],
)
def test_data_that_fill_their_scale_or_are_no_measures_are_left_alone(values):
    assert stored_maximum(Kept(values)) is None


@pytest.mark.parametrize("header", ["", "a,b,c\n", "101,102,103\n"], ids=["none", "names", "numbers"])
def test_the_line_and_the_cell_of_the_file(tmp_path, header):
    table = a_table().round(2)
    lines = [",".join(f"{one:.2f}" for one in row) for row in table]
    file = tmp_path / "flow.csv"
    file.write_text(header + "\n".join(lines) + "\n")
    data = Kept(table / table.max(), str(file))
    found = stored_maximum(data)
    assert found is not None
    frame, cell = read_as(data, found) or (None, "")
    assert frame is not None and frame.line == 61 + bool(header)
    assert cell.endswith(" is 9999")


def test_another_file_or_one_that_was_not_scaled_is_not_named(tmp_path):
    table = a_table()
    file = tmp_path / "flow.csv"
    file.write_text("\n".join(",".join(f"{one:.2f}" for one in row[::-1] ** 2) for row in table))
    data = SimpleNamespace(values=table / table.max(), file=str(file))
    found = stored_maximum(Kept(data.values))
    assert found is not None and read_as(data, found) is None
    shares = table / table.max()
    file.write_text("\n".join(",".join(f"{one:.8f}" for one in row) for row in shares))
    assert read_as(data, found) is None
    assert is_scaled(table[:, 1], 0, 60, found.first)
    assert not is_scaled(table[:, 1], 1, 61, found.first)
