"""The line that wrote one column of a sample."""

from __future__ import annotations

import ast
import sys
from importlib import util
from pathlib import Path

import pytest

from debugtracer.callsites.origins.column_line import column_line
from debugtracer.callsites.origins.sample_origin import sample_origin
from debugtracer.callsites.origins.value_origin import Link, Use
from debugtracer.source.program import parse
from debugtracer.trace.birth import Frame

TEXT = """\
import numpy as np
import torch
class Filled:
    def __getitem__(self, at):
        row = self.rows[at]
        x = np.zeros(3)
        x[0] = float(row["depth"])
        x[1] = float(row["salt"]) / 35
        x[2] = 1.0
        return torch.from_numpy(x).float(), at
class Listed:
    def __getitem__(self, at):
        row = self.rows[at]
        salt = float(row["salt"])
        return torch.tensor([
            float(row["depth"]),
            salt,
        ]), at
class Whole:
    def __getitem__(self, at):
        x = self.table[at]
        return x, at
class Joined:
    def __init__(self, table=None, days=None):
        if days is None:
            return
        paid = days / 30
        self.x = np.concatenate([np.log(days)[:, None], table, paid.reshape(-1, 1)], axis=1)
    def __getitem__(self, at):
        return self.x[at], at
"""


@pytest.mark.parametrize(
    ("kind", "column", "line"),
    [
        ("Joined", 0, 28),
        ("Joined", 6, 27),
        ("Joined", 3, None),
        ("Filled", 0, 7),
        ("Filled", 1, 8),
        ("Listed", 0, 16),
        ("Listed", 1, 14),
        ("Listed", 5, None),
        ("Whole", 1, None),
    ],
)
def test_the_write_into_the_place_or_the_part_of_the_list(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, column: int, line: int | None
) -> None:
    file = tmp_path / "water.py"
    file.write_text(TEXT)
    spec = util.spec_from_file_location("water", file)
    assert spec is not None and spec.loader is not None
    module = util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "water", module)
    spec.loader.exec_module(module)
    found = column_line(sample_origin(getattr(module, kind)(), None, None, "batch[0]"), column, 7)
    assert (found.line if found is not None else None) == line


def test_a_record_of_several_parts_is_no_list_of_columns() -> None:
    part = ast.parse("(x, y)", mode="eval").body
    program = parse(Path("water.py"), b"rows.append((x, y))\n")
    assert program is not None
    link = Link(Frame("water.py", 1), "handed", Use(program, None, part, (), 1))
    assert column_line((link,), 0) is None
