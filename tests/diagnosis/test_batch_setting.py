"""The number that an op could not take stands in all rows of the data."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from tests.watching import only, under_watch


class Rows(Dataset):
    def __init__(self, column, array=False):
        table = torch.cat([torch.rand(48, 3), column], 1)
        self.table = table.numpy() if array else table

    def __len__(self):
        return len(self.table)

    def __getitem__(self, at):
        return torch.as_tensor(self.table[at])


class Root(nn.Module):
    def __init__(self, op=torch.div):
        super().__init__()
        self.head, self.op = nn.Linear(1, 1), op

    def forward(self, x):
        return self.head(self.op(x[:, :1], x[:, 3:4]))


def seen(tmp_path, data, size=16, op=torch.div):
    model = Root(op)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with under_watch(tmp_path):
        for x in DataLoader(data, batch_size=size):
            optimizer.zero_grad()
            model(x).mean().backward()
            optimizer.step()
            break
    return only(tmp_path).facts


@pytest.mark.parametrize("array", [False, True], ids=["tensor", "array"])
def test_a_column_that_is_0_in_all_rows_is_a_setting(tmp_path, array):
    facts = seen(tmp_path, Rows(torch.zeros(48, 1), array))
    told = facts.setting
    assert told is not None and (told.column, told.value, told.rows) == (3, 0.0, 16)
    assert (told.stored, told.stored_rows) == ("Rows.table", 48)
    assert facts.batch_rows is None and facts.sample_index is None


def test_a_batch_of_zeros_in_data_that_have_others_is_none(tmp_path):
    facts = seen(tmp_path, Rows(torch.tensor(np.repeat([0.0, 1.0, 2.0], 16)[:, None], dtype=torch.float32)))
    assert facts.setting is None and facts.sample_index == tuple(range(16))


def test_a_row_among_others_is_none(tmp_path):
    column = torch.ones(48, 1)
    column[5] = 0.0
    facts = seen(tmp_path, Rows(column))
    assert facts.setting is None and facts.sample_index == (5,)


def test_two_rows_say_nothing(tmp_path):
    assert seen(tmp_path, Rows(torch.zeros(48, 1)), size=2).setting is None


def test_the_logarithm_of_a_setting(tmp_path):
    told = seen(tmp_path, Rows(torch.full((48, 1), -0.5)), op=lambda x, setting: x * torch.log(setting)).setting
    assert told is not None and (told.column, told.value) == (3, -0.5)


def test_a_number_that_the_op_can_take_is_not_to_blame(tmp_path):
    facts = seen(tmp_path, Rows(torch.full((48, 1), 0.5)), op=lambda x, setting: torch.pow(x - 2.0, setting))
    assert facts.setting is None and facts.batch_rows == tuple(range(16))
    assert seen(tmp_path / "b", Rows(torch.full((48, 1), 1e-3)), op=lambda x, s: (x + 1.0) * 3e37 / s).setting is None
