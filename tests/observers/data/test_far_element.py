"""The one number that makes a row unlike the others."""

from __future__ import annotations

import numpy as np
import torch

from debugtracer.observers.data.far_element import FarElement, far_element, line_of


class Table:
    """A dataset that keeps the name of its file."""

    def __init__(self, file):
        self.file = str(file)


def table():
    return torch.arange(40.0).remainder(7).reshape(10, 4)


def test_its_place_its_value_and_what_the_others_have():
    rows = table()
    rows[3, 2] = 46321.0
    others = rows[[i for i in range(10) if i != 3], 2]
    assert far_element(rows, 3) == FarElement((2,), 46321.0, float(others.min()), float(others.max()))
    assert far_element(rows[:, 2], 3) == FarElement((), 46321.0, float(others.min()), float(others.max()))


def test_a_place_in_a_window():
    windows = torch.rand(6, 5, 3)
    windows[4, 1, 2] = -999.0
    found = far_element(windows, 4)
    assert found is not None
    assert (found.place, found.value) == ((1, 2), -999.0)


def test_none_for_a_row_like_the_others_and_for_images():
    assert far_element(table(), 3) is None
    assert far_element(torch.rand(8, 3, 4, 4), 2) is None
    assert far_element(torch.rand(2, 4), 0) is None
    rows = table()
    rows[3] = float("nan")
    assert far_element(rows, 3) is None


def test_the_only_line_of_a_file_with_that_number(tmp_path):
    rows = [f"u{i},{i % 5},{i / 8}\n" for i in range(30)]
    rows[17] = "u17,46321,2.0\n"
    rows[18] = "u18,12.625,7\n"
    (tmp_path / "visits.csv").write_text("user,views,price\n" + "".join(rows))
    found = line_of(46321.0, Table(tmp_path / "visits.csv"))
    assert found is not None
    assert (found.line, found.code) == (19, "u17,46321,2.0")
    assert line_of(12.625, Table(tmp_path / "visits.csv")).line == 20
    assert line_of(7.0, Table(tmp_path / "visits.csv")) is None
    assert line_of(555.5, Table(tmp_path / "visits.csv")) is None


def test_the_line_of_a_number_that_was_scaled_since(tmp_path):
    levels = [f"{i % 9 + 0.125}" for i in range(40)]
    levels[11] = "2430"
    (tmp_path / "levels.csv").write_text("hour,level\n" + "".join(f"{i},{one}\n" for i, one in enumerate(levels)))
    table = Table(tmp_path / "levels.csv")
    read = np.array([float(one) for one in levels], dtype=np.float32)
    table.levels = (read - read.mean()) / read.std()
    found = line_of(float(table.levels[11]), table)
    assert found is not None
    assert (found.line, found.code) == (13, "11,2430")
