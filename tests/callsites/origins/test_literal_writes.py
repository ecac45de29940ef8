"""The line that writes NaN or Inf itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from debugtracer.callsites.origins.literal_writes import literal_write
from debugtracer.callsites.origins.value_origin import origin
from debugtracer.trace.birth import Frame


def line_of(folder: Path, *lines: str, some: bool = True) -> int | None:
    file = folder / "written.py"
    file.write_text("\n".join(("import torch", "x = torch.randn(9, 2)", *lines, "use(x)")) + "\n")
    found = literal_write(origin("x", (Frame(str(file), len(lines) + 3, "<module>", "use(x)"),)), some)
    return None if found is None else found.line


@pytest.mark.parametrize("value", ["float('nan')", "torch.nan", "-float('inf')", "-torch.inf", "float('-Infinity')"])
def test_a_later_line_that_scales_other_elements_is_passed_over(tmp_path: Path, value: str):
    assert line_of(tmp_path, f"x[3, 1] = {value}", "x[4:6] *= 7", "x[7] = 0.0") == 3


def test_nothing_where_none_is_written_out_or_all_is_written_anew(tmp_path: Path):
    assert line_of(tmp_path, "x[3] = 1.0", "x[4:6] *= 7") is None
    (tmp_path / "b").mkdir()
    assert line_of(tmp_path / "b", "x[3] = torch.nan", "x = x.clone()", "x[4:6] *= 7") is None


BRANCHES = ("if few:", "    x[3, 1] = float('nan')", "else:", "    x[:, 1] = float('nan')")


@pytest.mark.parametrize(("some", "line"), [(True, 4), (False, 6)], ids=["a few rows", "all rows"])
def test_of_two_branches_the_one_that_fits_the_rows(tmp_path: Path, some: bool, line: int):
    assert line_of(tmp_path, *BRANCHES, some=some) == line
    (tmp_path / "turned").mkdir()
    other = line_of(tmp_path / "turned", BRANCHES[0], BRANCHES[3], BRANCHES[2], BRANCHES[1], some=some)
    assert other == 10 - line


def test_a_row_that_is_no_number_may_be_any(tmp_path: Path):
    assert line_of(tmp_path, "x[3, 1] = torch.nan", "x[rows, 1] = torch.nan", some=False) == 4
    assert line_of(tmp_path, "x[3, 1] = torch.nan", some=False) == 3  # a batch of one
