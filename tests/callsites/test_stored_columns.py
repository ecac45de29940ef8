"""What the functions that run hold of rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from debugtracer.callsites import stored_columns as module
from debugtracer.callsites.frames import frames_of, raw_frames
from debugtracer.callsites.stored_columns import StoredColumn, fields, listed, stored_columns

HERE = Path(__file__).name


class Feed:
    def __init__(self, rows):
        self.rows = rows

    def batch(self, k):
        return self.rows[k : k + 4]


def named(fewest=4):
    return {column.what(): column for column in stored_columns(fewest)}


def test_names_parts_attributes_and_fields_of_records_are_found():
    table = np.arange(24.0).reshape(8, 3)
    pair = (torch.ones(8, 2), torch.zeros(8))
    feed = Feed([([n, n + 1], n % 2) for n in range(8)])
    found = named()
    assert {"table", "pair[0]", "pair[1]", "field 0 of Feed.rows", "field 1 of Feed.rows"} <= found.keys()
    assert found["field 0 of Feed.rows"].table.tolist() == [[n, n + 1] for n in range(8)]
    assert found["field 1 of Feed.rows"].table.tolist() == [0, 1] * 4
    assert found["table"].table.data_ptr() == table.ctypes.data
    assert len(found["pair[1]"]) == len(pair[1]) == len(feed.rows)


def test_a_view_stands_for_the_array_it_is_cut_from_and_what_is_short_is_left_out():
    def whole(values):
        return values

    part = whole(np.arange(24.0).reshape(8, 3))[2:4]
    rows = torch.arange(16.0).reshape(8, 2)[4:6]
    few = torch.ones(3, 2)
    found = named()
    assert (len(found["part"]), len(found["rows"])) == (8, 8)
    assert "few" not in found
    assert part.shape == (2, 3)
    assert len(rows) < len(few)


def test_the_names_of_a_generator_that_waits_are_found():
    def batches(data):
        yield from (data[k : k + 2] for k in range(0, 8, 2))

    def waiting():
        store = np.arange(16.0).reshape(8, 2)
        yield from batches(store)

    feed = waiting()
    next(feed)
    assert "store" in named()
    feed.close()
    assert "store" not in named()


def test_the_line_that_cuts_it_and_the_lines_that_made_it():
    numbers = torch.randn(8, 2)
    part = numbers[2:4]
    feed = Feed(numbers)
    found = named()
    assert found["numbers"].cut_at().code == "part = numbers[2:4]"
    assert found["Feed.rows"].cut_at().code == "return self.rows[k : k + 4]"
    (made,) = found["numbers"].made(frames_of(raw_frames(1)))
    assert made.code == "numbers = torch.randn(8, 2)"
    assert [frame.code for frame in found["Feed.rows"].made(())] == ["self.rows = rows"]
    assert found["numbers"].made(()) == ()
    assert len(part) < len(feed.rows)


@pytest.mark.parametrize(
    ("record", "keys"),
    [
        (3.5, [None]),
        ([1.0, 2.0], [None]),
        (([1, 2], 3, "name"), [0, 1]),
        ({"x": np.ones(3), "label": 2, "id": "a"}, ["x", "label"]),
        ([[1, 2], 3], [0, 1]),
        ("text", []),
        (torch.ones(3), [None]),
        (torch.ones(3, requires_grad=True), []),
        ((), []),
    ],
)
def test_the_fields_of_a_record_are_its_numbers_and_rows_of_numbers(record, keys):
    assert fields(record) == keys


def test_lists_of_rows_of_one_length_are_tables_and_others_are_none():
    assert listed([[1, 2], [3, 4]]).tolist() == [[1, 2], [3, 4]]
    assert listed([torch.ones(2), torch.zeros(2)]).tolist() == [[1, 1], [0, 0]]
    assert listed([[1, 2], [3]]) is None
    assert listed(["a", "b"]) is None
    assert listed([1.5, 2.5]).tolist() == [1.5, 2.5]


def test_a_file_and_a_large_array_that_would_be_copied_are_no_table(tmp_path, monkeypatch):
    def array(value):
        return StoredColumn(None, value).table

    table = np.arange(24.0).reshape(8, 3)
    table.tofile(tmp_path / "rows.bin")
    read_only = table.copy()
    read_only.flags.writeable = False
    assert array(np.memmap(tmp_path / "rows.bin", np.float64, "r", shape=(8, 3))) is None
    for one in (read_only, table.T, table[::-1], torch.from_numpy(table).T):
        assert array(one).tolist() == one.tolist()
    monkeypatch.setattr(module, "MOST_COPIED", table.nbytes - 1)
    assert [array(one) for one in (read_only, table.T, table[::-1], torch.from_numpy(table).T)] == [None] * 4
    assert array(table).data_ptr() == table.ctypes.data
