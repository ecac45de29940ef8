"""Where the tensors of a step come from."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from debugtracer.callsites.stored_columns import StoredColumn
from debugtracer.observers.data import own_batches as module
from debugtracer.observers.data.own_batches import OwnBatches, rows_in
from debugtracer.observers.loss.followed_rows import FollowedRows
from debugtracer.trace.facts.stored_rows import FarValue, StoredLeaf, StoredRows
from tests.checks.windows import ref


def found(*given):
    paths = ("input", "target")
    pairs = list(zip(paths, given, strict=False))
    del given
    return OwnBatches().found(pairs, FollowedRows())


def test_a_view_is_found_by_its_memory_and_the_target_beside_it_by_its_values():
    table, labels = torch.randn(40, 3), torch.arange(40) % 2
    batch = found(table[8:16], labels[8:16].clone())
    assert batch.rows == tuple(range(8, 16))
    assert (batch.in_order, batch.length) == (True, 40)
    assert [(leaf.path, leaf.name) for leaf in batch.leaves] == [("input", "table"), ("target", "labels")]
    assert batch.frame.code.startswith("batch = found(table[8:16]")


def test_copies_are_found_by_their_values_in_another_dtype_and_order():
    table = np.random.default_rng(0).normal(size=(40, 3))
    order = [5, 3, 30, 8, 11]
    batch = found(torch.tensor(table[order], dtype=torch.float))
    assert (batch.rows, batch.in_order) == (tuple(order), False)
    assert batch.leaves[0].name == "table"


def test_fields_of_records_are_found_together():
    records = [([n, 2 * n, 7], n % 3) for n in range(30)]
    part = records[10:16]
    batch = found(torch.tensor([x for x, _ in part]), torch.tensor([y for _, y in part]))
    assert batch.rows == tuple(range(10, 16))
    assert [leaf.name for leaf in batch.leaves] == ["field 0 of records", "field 1 of records"]


def test_an_index_on_the_tape_tells_rows_that_values_do_not():
    table = torch.zeros(40, 2)
    rows, followed = torch.tensor([3, 9, 1, 7]), FollowedRows()
    part = table[rows]
    followed.called("__getitem__", (table, rows), {}, part)
    batch = OwnBatches().found([("input", part)], followed)
    assert batch.rows == (3, 9, 1, 7)
    assert batch.leaves[0].name == "table"


def test_what_is_drawn_anew_or_all_of_the_data_is_of_no_store():
    table = torch.randn(40, 3)
    assert found(torch.randn(8, 3)) is None
    assert found(table) is None
    assert found(table[:2]) is None
    assert found() is None


@pytest.mark.parametrize(
    ("store", "values"),
    [
        (torch.zeros(40, 3), torch.zeros(8, 3)),
        (torch.arange(40), torch.arange(8)),
        (torch.randn(40, 3), torch.randn(8, 2)),
        (torch.arange(80.0).reshape(40, 2), torch.arange(80.0).reshape(40, 2)[:8] + torch.tensor([0.0, 1.0])),
    ],
    ids=["rows that are all the same", "ids say nothing", "other columns", "half of a row"],
)
def test_rows_that_values_cannot_tell_are_not_known(store, values):
    assert rows_in(store, values) is None


def test_rows_with_nan_and_a_long_row_are_compared_whole():
    store = torch.randn(40, 100)
    store[3, 2] = float("nan")
    assert rows_in(store, store[2:8].clone()) == tuple(range(2, 8))
    other = store[2:8].clone()
    other[1, 99] += 1
    assert rows_in(store, other) is None


def test_the_rows_of_now_are_found_again_by_the_name_of_the_store():
    own, table = OwnBatches(), torch.randn(40, 3)
    assert own.rows_now() == ()
    own.found([("input", table[:8].clone())], FollowedRows())
    x = table[[4, 9, 2, 30, 31, 7, 8, 1]]
    assert own.rows_now() == (4, 9, 2, 30, 31, 7, 8, 1)
    assert len(x) == 8


def test_what_is_far_is_told_of_the_rows_that_hold_it():
    own = OwnBatches()
    far = FarValue(value=9.0, rows=(4,), count=1, column=0, low=0.0, high=0.1)
    leaf = StoredLeaf(path="input", name="x", whole=False, far=(far,))
    own.know(StoredRows(ref=ref(1), length=9, rows=4, looks=2, in_order=True, same=False, leaves=(leaf,)))
    assert [*own.far_now((3, 4))] == [(leaf, far)]
    assert [*own.far_now((5, 6))] == []


def test_arrays_of_many_rows_and_what_many_lists_hold_are_not_searched(monkeypatch):
    monkeypatch.setattr(module, "MOST_ROWS", 40)
    monkeypatch.setattr(module, "MOST_LISTED", 50)
    short, long, lists = np.zeros((40, 2)), np.zeros((41, 2)), [[1.0] * 30, [2.0] * 20, [3.0] * 1]
    columns = [StoredColumn(None, one) for one in (short, long, *lists, short)]
    assert [len(one) for one in module.searched(columns)] == [40, 30, 20, 40]
