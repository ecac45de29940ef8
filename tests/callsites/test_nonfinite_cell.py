"""The only cell of the tables of a program that is no finite number."""

from __future__ import annotations

import pytest

from debugtracer.callsites.nonfinite_cell import nonfinite_cell


class Table:
    """A dataset that keeps the name of its file."""

    def __init__(self, file):
        self.file = file


def written(tmp_path, *cells, name="flow.csv"):
    """A table of 30 rows with these (row, column, text) in it; the answer for a dataset that was read from it."""
    rows = [[f"2021-01-{i:02d}", f"{i / 7:.3f}", f"{i % 5}"] for i in range(30)]
    for row, column, text in cells:
        rows[row][column] = text
    (tmp_path / name).write_text("".join(",".join(row) + "\n" for row in [["day", "flow", "gate"], *rows]))
    return nonfinite_cell(Table(str(tmp_path / name)))


@pytest.mark.parametrize("text", ["nan", "NaN", "", "inf", "-inf", "NA", "n/a"])
def test_the_line_and_what_is_written_there(tmp_path, text):
    found = written(tmp_path, (17, 1, text))
    assert found is not None
    frame, cell = found
    assert (frame.file, frame.line, cell) == (str(tmp_path / "flow.csv"), 19, f"flow is '{text}'")
    assert frame.code == f"2021-01-17,{text},2"


def test_none_where_there_is_no_such_cell_or_there_are_two(tmp_path):
    assert written(tmp_path) is None
    assert written(tmp_path, (17, 1, "nan"), (18, 1, "nan")) is None
    assert written(tmp_path, (3, 1, "nan"), (9, 2, "")) is None


def test_a_column_of_texts_and_a_file_without_columns_do_not_count(tmp_path):
    assert written(tmp_path, (17, 0, "nan")) is None
    (tmp_path / "words.txt").write_text("nan\n" * 40)
    assert nonfinite_cell(Table(str(tmp_path / "words.txt"))) is None
