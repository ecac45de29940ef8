"""What a table of a batch keeps of each row: how many, which values, and what is taken for its label."""

from __future__ import annotations

import pytest
import torch

from debugtracer.recorder.capsule import batch_table as module
from debugtracer.recorder.capsule.batch_table import table_of


def rows_of(table):
    return [row["row"] for row in table["rows"]]


def cell(tensor, **more):
    """The only cell of the only row of a tensor."""
    return table_of([("x", tensor[None])], 1, **more)["rows"][0]["leaves"][0]


def test_five_rows_are_kept_beside_the_guilty_ones():
    x = [("x", torch.arange(100.0))]
    assert rows_of(table_of(x, 100)) == [0, 1, 2, 3, 4] and rows_of(table_of(x, 100, first=2)) == [0, 1]
    assert rows_of(table_of(x, 100, guilty_rows=(7, 2, 100, -1, 7), first=1)) == [0, 2, 7]
    assert rows_of(table_of(x, None, guilty_rows=(0,))) == [] and rows_of(table_of(x, 3)) == [0, 1, 2]
    many = table_of(x, 100, guilty_rows=range(66), first=0)
    assert rows_of(many) == list(range(64)) and many["omitted"] == 2
    assert table_of(x, 100, guilty_rows=range(64))["omitted"] == 0


def test_the_samples_are_named_as_far_as_they_are_known():
    x = [("x", torch.arange(3.0))]
    assert [row["index"] for row in table_of(x, 3, (7, 8))["rows"]] == [7, 8, None]
    assert [row["index"] for row in table_of(x, 3)["rows"]] == [None, None, None]


def test_only_leaves_with_the_rows_of_the_batch_are_cut_into_them():
    leaves = [("x", torch.ones(2, 3)), ("y", torch.tensor(1.0)), ("z", torch.ones(3, 2))]
    table = table_of(leaves, 2)
    assert [one["name"] for one in table["rows"][0]["leaves"]] == ["x"]
    assert [one["name"] for one in table["leaves"]] == ["x", "y", "z"]


def test_low_and_high_are_of_finite_values():
    found = cell(torch.tensor([0.0, 2.0, float("nan"), float("inf"), -1.0]))
    assert (found["low"], found["high"], found["nan"], found["inf"], found["zeros"]) == (-1.0, 2.0, 1, 1, 1)
    assert found["values"] == [0.0, 2.0, "NaN", "Infinity", -1.0]
    empty = cell(torch.tensor([float("nan")]))
    assert (empty["low"], empty["high"], empty["nan"]) == (None, None, 1)
    assert len(cell(torch.arange(20.0))["values"]) == 16


@pytest.mark.parametrize(
    ("row", "read"),
    [
        (torch.zeros(4), True),
        (torch.zeros(5), False),
        (torch.zeros(2, dtype=torch.float64), True),
        (torch.zeros(3, dtype=torch.float64), False),
        (torch.quantize_per_tensor(torch.zeros(2), 1.0, 0, torch.qint8), False),
    ],
)
def test_a_row_that_is_too_large_or_has_no_plain_values_is_not_read(monkeypatch, row, read):
    monkeypatch.setattr(module, "_ROW_BYTES", 16)
    assert bool(cell(row)["values"]) is read


def test_a_sparse_row_is_not_read():
    found = table_of([("x", torch.eye(2).to_sparse())], 2)["rows"][0]["leaves"][0]
    assert found["values"] == [] and found["low"] is None


@pytest.mark.parametrize(
    ("row", "text"),
    [(torch.tensor([1, 2]), "[1, 2]"), (torch.tensor([1.0]), None), (torch.tensor([True]), None),
     (torch.tensor([[1]]), None)],
)  # fmt: skip
def test_a_row_of_ids_is_decoded(row, text):
    assert cell(row, decode=str)["text"] == text and cell(row)["text"] is None


def label(*leaves):
    return table_of([(str(n), one[None]) for n, one in enumerate(leaves)], 1)["rows"][0]["label"]


@pytest.mark.parametrize(
    ("leaves", "expected"),
    [
        ([torch.ones(2), torch.tensor(3)], 3),
        ([torch.tensor(3), torch.tensor(0.5)], 3),
        ([torch.tensor(3), torch.tensor([4])], 4),
        ([torch.tensor(0.25), torch.tensor(0.5)], 0.5),
        ([torch.tensor(0.25), torch.tensor(True)], 1),
        ([torch.tensor([[3]]), torch.ones(2)], None),
        ([torch.tensor([3, 4])], None),
        ([torch.tensor(1j)], None),
    ],
)
def test_a_label_is_the_last_whole_number_else_the_last_number(leaves, expected):
    assert label(*leaves) == expected
