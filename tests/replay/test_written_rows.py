"""Rows that a write in place changed."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from debugtracer.replay.op_trace.op_tracer import OpTracer
from debugtracer.replay.written_rows import WrittenRows, changed_rows


def masked(x: Tensor) -> None:
    x[torch.tensor([False, True, False, True])] = 0.0


def of_a_view(x: Tensor) -> None:
    x[2].mul_(3.0)


def with_the_value_it_had(x: Tensor) -> None:
    x[0] = x[0].clone()


@pytest.mark.parametrize(
    ("write", "op", "rows"),
    [
        (masked, "aten::index_put_", (1, 3)),
        (of_a_view, "aten::mul_", (2,)),
        (lambda x: x.add_(1.0), "aten::add_", ()),
        (with_the_value_it_had, "aten::copy_", ()),
    ],
    ids=["masked", "view", "all", "same"],
)
def test_the_rows_that_changed_where_not_all_did(write: Callable[[Tensor], None], op: str, rows: tuple[int, ...]):
    x, last = torch.arange(12.0).reshape(4, 3) + 1, WrittenRows()
    with OpTracer([last]):
        write(x)
    assert (last.op, last.rows) == (op, rows)


def test_a_call_that_writes_nothing_takes_nothing_over():
    x, last = torch.ones(4, 3), WrittenRows()
    with OpTracer([last]):
        x[0] = 2.0
        last.forget()
        x.exp()
    assert (last.op, last.module, last.rows) == (None, None, ())


def test_nan_that_was_there_is_no_change():
    old, new = torch.tensor([float("nan"), 1.0, 2.0]), torch.tensor([float("nan"), float("nan"), 2.0])
    assert changed_rows(old, new) == (1,)
