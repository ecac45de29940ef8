"""Which rows of a batch a tensor holds."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from debugtracer.recorder.tape.held_rows import (
    OTHER,
    HeldRows,
    all_rows,
    common_rows,
    rows_after_move,
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
