"""Where a number was written that stands in all rows of a column."""

from __future__ import annotations

import sys
from importlib import util
from pathlib import Path
from typing import Any

import pytest

from debugtracer.callsites.origins.column_fill import column_fill, kept_uses, uses_of
from debugtracer.callsites.origins.sample_origin import sample_origin

TEXT = """\
import numpy as np
import torch
NEAR = 0.0
class ReachTables:
    def __init__(self, n, rough=0.0):
        self.set_up()
        self.rows = []
        self.rows += [torch.cat([torch.rand(n, 3), self.bed * torch.ones(n, 1), self.wide * torch.ones(n, 1)], 1)]
        self.rows = torch.cat(self.rows)
        self.full = torch.cat([torch.rand(n, 3), torch.full((n, 1), NEAR)], 1)
        self.piece = np.concatenate([np.zeros((n, 1)), np.random.rand(n, 3)], 1)
        self.table = torch.rand(n, 4)
        self.table[:, 2] = rough
        self.twice = torch.cat([torch.rand(n, 3), torch.zeros(n, 1), NEAR * torch.ones(n, 1)], 1)
        self.counted = torch.cat([torch.rand(n, 3), torch.rand(n, 1).round()], 1)
    def set_up(self):
        self.wide = 4.0
        self.bed = 0.0
    def __getitem__(self, at):
        return self.rows[at]
class ReachRows:
    def __init__(self, cold=0.0):
        self.cold = cold
    def __getitem__(self, at):
        row = torch.tensor([at, self.cold])
        return {"t": torch.tensor(self.cold), "row": row}
"""


@pytest.fixture
def program(tmp_path: Path) -> Any:
    path = tmp_path / "reach.py"
    path.write_text(TEXT)
    spec = util.spec_from_file_location("reach_fill", path)
    assert spec is not None and spec.loader is not None
    module = util.module_from_spec(spec)
    sys.modules["reach_fill"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["reach_fill"]


@pytest.mark.parametrize(
    ("name", "column", "number", "lines"),
    [
        ("rows", 3, 0.0, (8, 18)),
        ("rows", 4, 4.0, (8, 17)),
        ("rows", 3, 2.0, None),  # not the number that was seen
        ("full", 3, 0.0, (10, 3)),
        ("piece", 0, 0.0, (11, 11)),
        ("table", 2, 0.0, (13, 5)),
        ("table", 1, 0.0, None),  # another column
        ("twice", 3, 0.0, None),  # two parts are that number
        ("counted", 3, 0.0, None),  # computed
    ],
)
def test_the_lines_of_an_array_that_a_data_set_keeps(program, name, column, number, lines):
    found = column_fill(kept_uses(program.ReachTables(6), name), column, number)
    assert (found and (found.written.line, found.frame.line)) == lines


@pytest.mark.parametrize(("path", "column", "lines"), [("batch['t']", None, (23, 22)), ("batch['row']", 1, (25, 22))])
def test_the_lines_of_a_sample_that_is_put_together(program, path, column, lines):
    links = sample_origin(program.ReachRows(), None, None, path)
    found = column_fill(uses_of(links), column, 0.0)
    assert found is not None and (found.written.line, found.frame.line) == lines
