"""Facts about the canary's norms: one bad value anywhere shows, nothing healthy does, and the number is the norm."""

from __future__ import annotations

import math
from collections import deque
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from debugtracer.recorder.gate.norms import (
    all_on_cpu,
    dense,
    grouped,
    is_bad,
    l2_on_cpu,
    loss_value,
    scalar,
    total_l2,
    worst_of,
)


class Ops(TorchDispatchMode):
    """Names of the operators that were called."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.names.append(func._schema.name)
        return func(*args, **(kwargs or {}))


DTYPES = [torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.complex64, torch.float8_e4m3fn]
BAD = [float("nan"), float("inf"), -float("inf")]


@pytest.mark.parametrize("dtype", DTYPES[:5])
def test_the_norm_is_that_of_all_values_together(dtype: torch.dtype) -> None:
    tensors = [torch.randn(7, 3).to(dtype), torch.randn(5).to(dtype)]
    expected = (
        torch.cat([torch.view_as_real(t).flatten() if t.is_complex() else t.flatten() for t in tensors])
        .double()
        .norm()
        .item()
    )
    assert total_l2(tensors).item() == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("dtype", DTYPES[:5])
def test_one_bad_value_shows_in_each_number(dtype: torch.dtype, bad: float) -> None:
    tensors = [torch.ones(100), torch.ones(50, dtype=dtype)]
    assert math.isfinite(total_l2(tensors).item())
    assert math.isfinite(worst_of(tensors).item())
    tensors[1][17] = bad
    assert not math.isfinite(total_l2(tensors).item())
    assert not math.isfinite(worst_of(tensors).item())
    assert [is_bad(t) for t in tensors] == [False, True]


def test_one_bad_number_in_the_imaginary_part_shows() -> None:
    assert is_bad(torch.complex(torch.ones(2), torch.tensor([1.0, float("nan")])))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_the_largest_half_precision_values_do_not_overflow_the_norm(dtype: torch.dtype) -> None:
    t = torch.full((1000,), 6e4).to(dtype)
    assert total_l2([t]).item() == pytest.approx(t[0].item() * math.sqrt(1000), rel=1e-3)


def test_a_float64_value_beyond_float32_is_healthy() -> None:
    assert math.isfinite(total_l2([torch.tensor([1e100], dtype=torch.float64)]).item())


def test_a_large_float32_value_may_overflow_the_norm_but_is_neither_bad_nor_worst() -> None:
    t = torch.tensor([1e30])
    assert not is_bad(t)
    assert worst_of([t]).item() == pytest.approx(1e30)


@pytest.mark.parametrize(
    "empty",
    [[], [torch.ones(0)], [torch.ones(2, dtype=torch.long)], [torch.ones(2, device="meta")], [torch.tensor([True])]],
)
def test_nothing_to_measure_is_none(empty: list[torch.Tensor]) -> None:
    assert total_l2(empty) is None
    assert worst_of(empty) is None


@pytest.mark.parametrize("layout", ["coo", "csr"])
def test_a_sparse_gradient_is_measured_by_its_values(layout: str) -> None:
    t = torch.tensor([[0.0, 3.0], [4.0, 0.0]])
    sparse = t.to_sparse() if layout == "coo" else t.to_sparse_csr()
    assert total_l2([sparse]).item() == pytest.approx(5.0)
    assert not is_bad(sparse)
    t[0, 1] = float("nan")
    assert is_bad(t.to_sparse() if layout == "coo" else t.to_sparse_csr())


def test_uncoalesced_duplicates_are_added_first() -> None:
    t = torch.sparse_coo_tensor(torch.tensor([[0, 0]]), torch.tensor([3.0, 4.0]), (2,))
    assert total_l2([t]).item() == pytest.approx(7.0)


def test_the_gradient_of_an_embedding_with_sparse_gradients_is_measured() -> None:
    table = torch.nn.Embedding(5, 2, sparse=True)
    table(torch.tensor([1, 1])).sum().backward()
    assert total_l2([table.weight.grad]).item() == pytest.approx(math.sqrt(8.0))


def test_no_graph_and_no_value_is_touched() -> None:
    w = torch.ones(3, requires_grad=True)
    version = w._version
    assert not total_l2([w]).requires_grad
    assert all(not t.requires_grad for t in dense([w]))
    assert w._version == version


def test_tensors_of_all_kinds_are_measured_together() -> None:
    kinds = [
        torch.full((2,), 3.0, requires_grad=True),
        torch.full((1,), 4.0, dtype=torch.float64),
        torch.full((1,), 5.0, dtype=torch.bfloat16),
        torch.ones(0),
        torch.tensor([[0.0, 6.0]]).to_sparse(),
    ]
    assert total_l2(kinds).item() == pytest.approx(math.sqrt(9 + 9 + 16 + 25 + 36))
    assert worst_of(kinds).item() == 6.0
    assert not total_l2(kinds).requires_grad


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
def test_a_number_is_read_without_a_call_of_an_operator(dtype: torch.dtype) -> None:
    with Ops() as ops:
        assert scalar(torch.tensor(1.5, dtype=dtype, requires_grad=True)) == 1.5
        assert math.isnan(scalar(torch.tensor(math.nan, dtype=dtype)))
    assert "aten::_local_scalar_dense" not in ops.names
    assert scalar(torch.tensor([[2.5]])) == 2.5


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("bad", [None, *BAD])
def test_the_norm_read_at_once_is_the_same_number(dtype: torch.dtype, bad: float | None) -> None:
    tensors = [torch.randn(3, 4).to(dtype), torch.ones(5).to(dtype), torch.ones(0).to(dtype)]
    if bad is not None and dtype != torch.float8_e4m3fn:
        tensors[1][2] = bad
    total = total_l2(tensors)
    assert total is not None
    expected, found = scalar(total), l2_on_cpu(tensors)
    assert math.isfinite(found) == math.isfinite(expected)
    if math.isfinite(expected):
        assert found == pytest.approx(expected, rel=1e-6)


def test_the_norm_read_at_once_takes_what_the_fused_one_does_not() -> None:
    sparse = torch.sparse_coo_tensor(torch.tensor([[0, 2]]), torch.tensor([3.0, 4.0]), (3,), check_invariants=True)
    assert l2_on_cpu([sparse, torch.full((1,), 12.0)]) == pytest.approx(13.0)
    assert l2_on_cpu([]) == 0.0


def test_the_norm_read_at_once_is_one_operator() -> None:
    tensors = [torch.ones(3), torch.ones(2, 2)]
    with Ops() as ops:
        l2_on_cpu(tensors)
    assert ops.names == ["aten::_foreach_norm"]


def test_a_loss_is_read_where_it_needs_no_sync() -> None:
    assert loss_value(torch.tensor(2.5)) == 2.5
    assert loss_value(torch.tensor([[-2.5]])) == -2.5
    assert loss_value(torch.tensor([3.0, 4.0])) == pytest.approx(5.0)
    assert loss_value(torch.ones(0)) == 0.0
    assert loss_value(torch.tensor(2)) is None
    assert loss_value(torch.ones(1, device="meta")) is None


def test_a_vector_of_losses_is_bad_where_a_value_is_and_not_where_its_norm_overflows() -> None:
    assert loss_value(torch.tensor([math.inf, 1.0])) == math.inf
    assert math.isnan(loss_value(torch.tensor([math.nan, 1.0])) or 0.0)
    assert loss_value(torch.full((2,), 1e308, dtype=torch.float64)) == 0.0


def test_a_nested_gradient_is_measured_by_its_values() -> None:
    nested = torch.nested.nested_tensor([torch.tensor([3.0]), torch.tensor([4.0, 12.0])], layout=torch.jagged)
    norm = total_l2([nested])
    assert norm is not None and scalar(norm) == pytest.approx(13.0)


def test_a_number_on_the_tape_is_read_as_it_is() -> None:
    assert scalar(torch.tensor([7])) == 7.0
    assert scalar(nn.Parameter(torch.tensor(1.5))) == 1.5


def test_norms_of_each_are_kept_where_they_are_exact_and_plain() -> None:
    kept: deque[tuple[float, ...]] = deque()
    l2_on_cpu([torch.full((4,), 1.5), torch.zeros(2)], kept)
    l2_on_cpu([torch.ones(4).half()], kept)
    l2_on_cpu([torch.ones(4).to_sparse()], kept)
    l2_on_cpu([], kept)
    assert list(kept) == [(3.0, 0.0)]


def test_what_lies_on_the_host_is_told_and_nothing_does_not() -> None:
    assert all_on_cpu([torch.ones(1), torch.ones(2)])
    assert not all_on_cpu([torch.ones(1), torch.ones(1, device="meta")])
    assert not all_on_cpu([])


def test_tensors_of_one_kind_are_one_group_as_they_are_with_empty_ones_among_them() -> None:
    alike = [torch.ones(2), torch.ones(0)]
    (group,) = grouped(alike)
    assert [id(t) for t in group] == [id(t) for t in alike]
    assert grouped([torch.ones(0)]) == []
    assert grouped([torch.ones(2, dtype=torch.int64)]) == []
    assert grouped([torch.ones(2, device="meta")]) == []
    mixed = [torch.ones(2), torch.ones(2).double(), torch.ones(3), torch.ones(0), torch.ones(1, device="meta")]
    assert [[t.shape[0] for t in group] for group in grouped(mixed)] == [[2, 3], [2]]
