"""The guilty rows beside healthy ones."""

from __future__ import annotations

import json

import pytest

from debugtracer.errors import TraceError
from debugtracer.views.batch import read_batch, render_batch


def leaf(**more):
    return {
        "name": "batch[0]",
        "dtype": "int64",
        "shape": [12],
        "low": 0,
        "high": 0,
        "nan": 0,
        "inf": 0,
        "zeros": 12,
        "values": [0, 0, 0, 0],
        "text": None,
        **more,
    }


def write(folder, rows, version=1):
    (folder / "batch.json").write_text(
        json.dumps(
            {"version": version, "rows": rows, "leaves": [{"name": "batch[0]", "dtype": "int64", "shape": [32, 12]}]}
        )
    )
    return folder


def a_row(row, guilty=False, **more):
    return {"row": row, "index": 900 + row, "guilty": guilty, "leaves": [leaf(**more)], "label": 1}


def test_guilty_rows_come_first_and_are_marked(tmp_path):
    text = render_batch(
        read_batch(write(tmp_path, [a_row(0, low=1, high=9, values=[1, 9, 4]), a_row(31, guilty=True, text="<pad>")]))
    )
    lines = text.splitlines()
    assert lines[0] == "1 guilty row (marked >) beside 1 healthy one:"
    assert lines[2].split() == [
        ">",
        "31",
        "931",
        "1",
        "batch[0]",
        "int64[12]",
        "all",
        "0",
        "0",
        "0",
        "0",
        "0",
        "0",
        "0",
    ]
    assert "\n> row 31 batch[0]: '<pad>'\n" in text
    assert text.index("931") < text.index("900")


def test_five_healthy_rows_are_enough(tmp_path):
    text = render_batch(read_batch(write(tmp_path, [a_row(r) for r in range(20)])))
    assert text.startswith("No single row is known to be guilty; the first 5 rows of the batch:")
    assert " 904 " in text
    assert " 905 " not in text


def test_a_row_without_a_finite_number_says_so(tmp_path):
    assert "nothing finite" in render_batch(
        read_batch(write(tmp_path, [a_row(3, guilty=True, low=None, high=None, nan=12)]))
    )


@pytest.mark.parametrize("content", ["", '{"version": 1, "rows": [{"row"', '{"version": 1, "rows": 7}'])
def test_a_damaged_batch_is_one_sentence(tmp_path, content):
    (tmp_path / "batch.json").write_text(content)
    with pytest.raises(TraceError, match="cannot be read as a batch"):
        read_batch(tmp_path)


def test_a_missing_batch_and_another_version_are_one_sentence(tmp_path):
    with pytest.raises(TraceError, match="the batch of this incident was not saved"):
        read_batch(tmp_path)
    with pytest.raises(TraceError, match="written by another version \\(9, this one reads 1\\)"):
        read_batch(write(tmp_path, [], version=9))


def test_long_rows_show_their_first_values_and_omitted_rows_are_counted(tmp_path):
    folder = write(tmp_path, [a_row(3, guilty=True, dtype="float32", values=[0.5, "NaN", 1, 2, 3, 4, 5, 6])])
    table = json.loads((folder / "batch.json").read_text()) | {"omitted": 9}
    (folder / "batch.json").write_text(json.dumps(table))
    text = render_batch(read_batch(folder), width=120)
    assert text.startswith("1 guilty row of 10 (marked >):")
    assert "0.5 nan 1 2 3 4 ..." in text
