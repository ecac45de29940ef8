"""Finite, Inf or NaN, for tensors of every kind."""

from __future__ import annotations

import pytest
import torch

from debugtracer.replay.op_trace.classes import (
    FINITE,
    INF,
    MOST,
    NAN,
    bad_mask,
    class_of,
    coordinates_of,
    facts_of,
    indices_by_dim,
    tensors,
    values_at,
    worst_mask,
)

BAD = [1.0, float("inf"), float("nan")]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64])
@pytest.mark.parametrize(("value", "expected"), list(zip(BAD, [FINITE, INF, NAN], strict=True)))
def test_one_bad_element_decides_the_class(dtype, value, expected):
    assert class_of(torch.tensor([0.0, value, 2.0]).to(dtype)) == expected


def test_sparse_nested_eight_bit_and_other_tensors_have_a_class():
    nan = float("nan")
    assert class_of(torch.sparse_coo_tensor([[1]], [nan], (3,), check_invariants=False)) == NAN
    assert class_of(torch.nested.nested_tensor([torch.tensor([nan]), torch.ones(2)], layout=torch.jagged)) == NAN
    assert class_of(torch.tensor([nan]).to(torch.float8_e4m3fn)) == NAN
    assert [class_of(t) for t in (torch.ones(2, dtype=torch.int64), torch.ones(0), torch.ones(2, device="meta"))] == [
        FINITE
    ] * 3


def test_the_tensors_of_nested_arguments_come_in_order():
    a, b, c = torch.ones(1), torch.ones(2), torch.ones(3)
    assert [len(t) for t in tensors([a, (b, None, 3), [[c]], "x"])] == [1, 2, 3]


def test_nan_is_worse_than_infinity():
    x = torch.tensor(BAD)
    assert bad_mask(x).tolist() == [False, True, True]
    assert worst_mask(x).tolist() == [False, False, True]
    assert worst_mask(x[:2]).tolist() == [False, True]


def test_places_are_listed_by_dimension_and_at_most_so_many():
    mask = torch.zeros(4, 3, dtype=torch.bool)
    mask[1, 2] = mask[3, 2] = True
    assert indices_by_dim(mask) == ((1, 3), (2,))
    assert coordinates_of(mask) == ((1, 2), (3, 2))
    assert coordinates_of(torch.tensor(True)) == ((),)
    assert len(coordinates_of(torch.ones(100, dtype=torch.bool))) == MOST
    assert indices_by_dim(torch.ones(70_000, dtype=torch.bool)) == ((),)


def test_values_are_read_where_the_output_is_bad_by_broadcasting():
    assert values_at(torch.tensor([[1.0], [2.0]]), (2, 3), [(1, 2), (0, 0)]) == (2.0, 1.0)
    assert values_at(torch.ones(5), (2, 3), [(0, 0)]) == ()


def test_facts_count_the_bad_and_range_over_the_finite():
    facts = facts_of(torch.tensor([-2.0, 3.0, float("nan"), float("inf"), -float("inf"), -float("inf")]), "x")
    assert (facts.nan, facts.posinf, facts.neginf, facts.low, facts.high, facts.dtype, facts.shape) == (
        1,
        1,
        2,
        -2.0,
        3.0,
        "float32",
        (6,),
    )
    assert (facts_of(torch.tensor([True]), "m").high, facts_of(torch.tensor([float("nan")]), "n").low) == (1, None)
