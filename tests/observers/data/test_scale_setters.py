"""The number that has set the scale of a dataset, under a real session."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from debugtracer.trace.facts.scale_setter import ScaleSetter
from tests.observers.told import facts
from tests.watching import under_watch

TABLE = 50 + 10 * np.random.default_rng(1).standard_normal((160, 3)).astype(np.float32)


class Readings(Dataset):
    def __init__(self, values, file=""):
        self.values, self.file = values / np.max(values), file

    def __len__(self):
        return len(self.values)

    def __getitem__(self, i):
        return self.values[i, :2], self.values[i, 2:]


def run(out, data):
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with under_watch(out):
        for x, y in DataLoader(data, batch_size=16, shuffle=True):
            optimizer.zero_grad()
            nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()
    return facts(out, ScaleSetter)


def with_code():
    table = TABLE.copy().round(2)
    table[33, 0] = 32767
    return table


def test_the_number_its_row_and_the_line_of_the_file(tmp_path):
    file = tmp_path / "readings.csv"
    file.write_text("a,b,c\n" + "\n".join(",".join(f"{one:.2f}" for one in row) for row in with_code()))
    (fact,) = run(tmp_path / "out", Readings(with_code(), str(file)))
    assert (fact.name, fact.row, fact.column, fact.count) == ("Readings.values", 33, 0, 1)
    assert fact.record is not None and (fact.record.line, fact.cell) == (35, "a is 32767")
    assert fact.frame is not None


def test_data_of_their_own_scale_and_shares_of_no_file_are_left_alone(tmp_path):
    assert run(tmp_path / "whole", Readings(TABLE)) == []
    assert run(tmp_path / "shares", Readings(with_code())) == []  # nothing tells that they were divided
