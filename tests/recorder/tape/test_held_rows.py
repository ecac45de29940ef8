"""Which rows of a batch a tensor holds."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from debugtracer.recorder.tape import held_rows
from debugtracer.recorder.tape.held_rows import (
    OTHER,
    HeldRows,
    all_rows,
    common_rows,
    first_wide,
    lies_first,
    ordered,
    outermost,
    read_back,
    row_dim,
    rows_after_move,
    rows_of_memory,
    rows_of_view,
    unknown_rows,
)

BATCH = torch.arange(24.0).reshape(6, 4)
ORDER = torch.tensor([5, 0, 3])


@pytest.mark.parametrize(
    ("cut", "rows"),
    [
        (lambda x: x, range(6)),
        (lambda x: x[2:4], (2, 3)),
        (lambda x: x[1::2], (1, 3, 5)),
        (lambda x: x.chunk(3)[1], (2, 3)),
        (lambda x: x.split([1, 5])[1], (1, 2, 3, 4, 5)),
        (lambda x: x[4], (4,)),
        (lambda x: x[:, 1:3], range(6)),
        (lambda x: x[2:4, 1], (2, 3)),
        (lambda x: x[2:].unsqueeze(1), (2, 3, 4, 5)),
        (lambda x: x.t()[1:3], range(6)),
        (lambda x: x[2:5].view(2, 6), ()),
    ],
)
def test_a_view_holds_the_rows_that_it_was_cut_from(cut: Any, rows: Any) -> None:
    assert rows_of_view(cut(BATCH), BATCH, 6) == HeldRows(rows, 6)


def test_a_leaf_without_a_row_for_each_sample_says_nothing() -> None:
    edges = torch.arange(14).reshape(2, 7)
    assert rows_of_view(edges[1], edges, 6) is None
    assert rows_of_view(torch.tensor(1.0), torch.tensor(1.0), 6) is None


@pytest.mark.parametrize(
    ("function", "args", "rows"),
    [
        (torch.ops.aten.index.Tensor, (BATCH, [ORDER]), (5, 0, 3)),
        (torch.ops.aten.index.Tensor, (BATCH, [BATCH[:, 0] > 10]), (3, 4, 5)),
        (torch.ops.aten.index.Tensor, (BATCH, [BATCH > 13]), (3, 3, 4, 4, 4, 4, 5, 5, 5, 5)),
        (torch.ops.aten.index.Tensor, (BATCH, [None, torch.tensor([1, 1])]), range(6)),
        (torch.ops.aten.index_select.default, (BATCH, 0, ORDER), (5, 0, 3)),
        (torch.ops.aten.flip.default, (BATCH, [0]), (5, 4, 3, 2, 1, 0)),
        (torch.ops.aten.flip.default, (BATCH, [1]), range(6)),
        (torch.ops.aten.roll.default, (BATCH, [2], [0]), (4, 5, 0, 1, 2, 3)),
        (torch.ops.aten.repeat.default, (BATCH, [2, 1]), (0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5)),
        (torch.ops.aten.gather.default, (BATCH, 0, torch.tensor([[0, 1, 2, 3]])), (0, 1, 2, 3)),
    ],
)
def test_an_op_that_moves_rows_is_run_on_their_numbers(function: Any, args: tuple[Any, ...], rows: Any) -> None:
    assert rows_after_move(function, args, {}, {id(BATCH): all_rows(6)}) == HeldRows(rows, 6)


def test_rows_that_are_put_together_keep_where_each_came_from() -> None:
    one, other, new = torch.zeros(2, 4), torch.zeros(6, 4), torch.zeros(1, 4)
    held = {id(one): HeldRows((4, 1), 6), id(other): all_rows(6)}
    assert rows_after_move(torch.ops.aten.cat.default, ([one, new, other],), {}, held) == HeldRows(
        (4, 1, OTHER, 0, 1, 2, 3, 4, 5), 6
    )
    held[id(other)] = unknown_rows(6)
    assert rows_after_move(torch.ops.aten.cat.default, ([one, new, other],), {}, held) == unknown_rows(6)


def test_a_place_without_a_row_of_the_batch_names_none() -> None:
    assert HeldRows((4, OTHER, 1), 6).rows([0, 2]) == {1, 4}
    assert HeldRows((4, OTHER, 1), 6).rows([0, 1]) is None
    assert unknown_rows(6).rows([0]) is None


def test_what_an_op_has_read_is_told_where_all_that_it_read_agree() -> None:
    some = HeldRows((4, 1), 6)
    assert common_rows([]) is None
    assert common_rows([some, some, HeldRows((3,), 6)]) == some
    assert common_rows([some, HeldRows((1, 4), 6)]) == unknown_rows(6)
    assert common_rows([some, unknown_rows(6)]) == unknown_rows(6)


def test_rows_one_by_one_are_followed_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(held_rows, "MOST_ROWS", 4)
    assert ordered([3, 1, 2, 0], 6) == HeldRows((3, 1, 2, 0), 6)
    assert ordered([3, 1, 2, 0, 4], 6) == unknown_rows(6)
    assert ordered([], 6) == unknown_rows(6)
    assert ordered([2, 2, 2], 6) == HeldRows((2,), 6)
    assert ordered([0, 1, 2], 6) == HeldRows((0, 1, 2), 6)
    assert ordered([0, 1, 2], 3).at == range(3)
    assert rows_of_view(BATCH[:4], BATCH, 6) == HeldRows((0, 1, 2, 3), 6)
    assert rows_of_view(BATCH[:5], BATCH, 6) == unknown_rows(6)


@pytest.mark.parametrize(
    ("tensor", "outer", "first", "in_order"),
    [
        (torch.zeros(3, 4), 0, 0, True),
        (torch.zeros(4, 3).t(), 1, 0, False),
        (torch.zeros(1, 4), 1, 1, True),
        (torch.zeros(2, 1, 4).transpose(0, 1), 1, 1, True),
        (torch.zeros(3, 1).expand(3, 4), 0, 0, True),
        (torch.zeros(1, 4).expand(3, 4), 1, 0, False),
        (torch.zeros(1, 1), 0, 0, True),
        (torch.tensor(1.0), 0, 0, True),
        (torch.zeros(2, 2, 2).permute(2, 1, 0), 2, 0, False),
    ],
)
def test_the_outermost_dimension_is_the_one_of_the_widest_stride(
    tensor: torch.Tensor, outer: int, first: int, in_order: bool
) -> None:
    assert (outermost(tensor), first_wide(tensor), lies_first(tensor)) == (outer, first, in_order)


def test_a_tensor_that_is_not_laid_out_plainly_does_not_lie_first() -> None:
    assert not lies_first(BATCH.to_sparse())
    assert not lies_first(torch.nested.nested_tensor([torch.zeros(2), torch.zeros(2)]))


@pytest.mark.parametrize(
    ("shape", "held", "along"),
    [
        ((6, 4), all_rows(6), 0),
        ((12, 4), all_rows(6), 0),
        ((5, 4), all_rows(6), None),
        ((0,), all_rows(6), None),
        ((), all_rows(6), None),
        ((6, 4), HeldRows(range(4), 4, turned=True), 1),
        ((4, 4), HeldRows(range(4), 4, turned=True), None),
        ((5, 7), HeldRows(range(4), 4, turned=True), None),
    ],
)
def test_rows_lie_along_the_outermost_dimension_or_the_only_one_of_their_number(
    shape: tuple[int, ...], held: HeldRows, along: int | None
) -> None:
    assert row_dim(torch.zeros(shape), held) == along


@pytest.mark.parametrize(
    ("tensor", "leaf"),
    [
        (BATCH.view(torch.int32)[1:], BATCH),
        (BATCH.t().contiguous().t()[1:], BATCH.t().contiguous().t()),
        (BATCH.to_sparse(), BATCH),
        (BATCH[1:], BATCH.to_sparse()),
    ],
    ids=["other type", "turned leaf", "sparse", "sparse leaf"],
)
def test_a_view_of_another_kind_holds_rows_in_an_order_that_is_not_known(
    tensor: torch.Tensor, leaf: torch.Tensor
) -> None:
    assert rows_of_view(tensor, leaf, 6) == unknown_rows(6)


def test_a_leaf_that_begins_later_in_its_memory_counts_from_its_own_begin() -> None:
    leaf = torch.arange(40.0).reshape(10, 4)[4:]
    assert rows_of_view(leaf[2:4], leaf, 6) == HeldRows((2, 3), 6)


@pytest.mark.parametrize(
    ("base", "count", "high"),
    [
        (HeldRows((1, 0), 2, turned=True), 2, 96),
        (unknown_rows(2), 2, 96),
        (all_rows(4), 6, 96),
        (all_rows(6), 6, 94),
    ],
    ids=["turned", "unknown", "no share of the rows", "no share of the bytes"],
)
def test_memory_whose_rows_are_not_told_apart_holds_what_its_base_holds(base: HeldRows, count: int, high: int) -> None:
    assert rows_of_memory(BATCH[:2], 0, high, count, base) is base


def test_an_empty_view_holds_what_its_base_holds_and_a_number_nothing_that_is_known() -> None:
    base = HeldRows((2, 0, 1), 3)
    assert rows_of_memory(torch.zeros(0, 4), 0, 96, 3, base) is base
    assert rows_of_memory(torch.tensor(1.0), 0, 96, 3, base) == unknown_rows(3)
    assert rows_of_memory(BATCH[2:4], 0, 96, 6, base) == HeldRows((0,), 3)


@pytest.mark.parametrize(
    ("first", "held"),
    [
        (BATCH, {0: HeldRows((0, 1), 6), 1: HeldRows((0, 1), 7)}),
        (BATCH, {0: unknown_rows(6)}),
        (3.0, {0: all_rows(6)}),
        ([], {0: all_rows(6)}),
        (BATCH[:5], None),
    ],
    ids=["two batches", "order unknown", "no tensor", "none", "no share of its rows"],
)
def test_an_op_on_what_is_not_known_gives_an_order_that_is_not_known(first: Any, held: Any) -> None:
    held = {id(first): all_rows(6)} if held is None else held
    assert rows_after_move(torch.ops.aten.flip.default, (first, [0]), {}, held) == unknown_rows(6)


def test_an_op_on_more_numbers_than_are_looked_at_is_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    flip, held = torch.ops.aten.flip.default, {id(BATCH): all_rows(6)}
    monkeypatch.setattr(held_rows, "MOST_NUMBERS", 24)
    assert rows_after_move(flip, (BATCH, [0]), {}, held) == HeldRows((5, 4, 3, 2, 1, 0), 6)
    monkeypatch.setattr(held_rows, "MOST_NUMBERS", 23)
    assert rows_after_move(flip, (BATCH, [0]), {}, held) == unknown_rows(6)
    assert rows_after_move(lambda t: [t], (BATCH,), {}, held) == unknown_rows(6)


@pytest.mark.parametrize(
    ("numbers", "held"),
    [
        (torch.tensor([[1, 1], [0, 0]]), HeldRows((1, 0), 2)),
        (torch.tensor([[1, OTHER], [0, 0]]), HeldRows((1, 0), 2)),
        (torch.tensor([[1, 0], [1, 0]]), HeldRows((1, 0), 2)),
        (torch.tensor([[1, 0], [0, 1]]), unknown_rows(2)),
        (torch.zeros(0, 2, dtype=torch.int64), unknown_rows(2)),
        (torch.tensor(1), HeldRows((1,), 2)),
    ],
)
def test_numbers_are_read_back_along_the_dimension_that_keeps_them_apart(numbers: torch.Tensor, held: HeldRows) -> None:
    assert read_back(numbers, 2) == held


def test_rows_along_another_dimension_than_the_first_are_turned() -> None:
    assert read_back(torch.tensor([[1, 0], [1, 0]]), 2).turned
    assert not read_back(torch.tensor([[1, 1], [0, 0]]), 2).turned
    assert not read_back(torch.tensor([[1, 0]]), 2).turned


@pytest.mark.parametrize("place", [-1, 3])
def test_a_place_beyond_the_tensor_is_of_no_row(place: int) -> None:
    assert HeldRows((4, 2, 1), 6).rows([place]) is None
    assert HeldRows((4, 2, 1), 6).rows([]) is None
    assert HeldRows((4, 2, 1), 6).rows([0, 2]) == {4, 1}
