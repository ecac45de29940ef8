"""The constant that a record is scaled by."""

from __future__ import annotations

from pathlib import Path

import pytest

from debugtracer.callsites.origins.scale_line import scale_line
from debugtracer.trace.birth import Frame

TEXT = """\
class Rows:
    def named(self, at):
        row = self.rows[at]
        most = 255.0
        half = row.shape[0] // 2
        return row[:half] / most
    def plain(self, at):
        row = self.rows[at]
        return torch.as_tensor(row).float() * (0.5 / 255)
    def divided(self, at):
        row = self.rows[at]
        return row / 127.5 - 1
    def inverse(self, at):
        row = self.rows[at]
        return 1.0 / row
    def by_itself(self, at):
        row = self.rows[at]
        return row / row.max()
    def before(self, at):
        at = at * 2
        row = self.rows[at]
        return row
"""


@pytest.mark.parametrize(
    ("read", "line"), [(3, 4), (8, None), (11, 12), (14, None), (17, None), (21, None)],
    ids=["named", "computed", "divided", "inverse", "by itself", "before"],
)  # fmt: skip
def test_the_first_constant_after_the_line_that_reads(tmp_path: Path, read: int, line: int | None) -> None:
    file = tmp_path / "rows.py"
    file.write_text(TEXT)
    found = scale_line(Frame(str(file), read, ""))
    assert (found.line if found is not None else None) == line


def test_outside_a_function_nothing_is_scaled(tmp_path: Path) -> None:
    file = tmp_path / "rows.py"
    file.write_text("rows = read()\nrows = rows / 255\n")
    assert scale_line(Frame(str(file), 1, "")) is None
