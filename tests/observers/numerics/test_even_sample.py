"""Which values of a tensor are looked at, and which tensors together."""

from __future__ import annotations

import torch

from debugtracer.observers.numerics.even_sample import (
    LEAST,
    MOST,
    TOGETHER,
    evenly,
    matrices,
    row_medians,
    sample_size,
    strided,
)


def test_many_tensors_have_fewer_values_of_each():
    assert sample_size(0) == sample_size(4) == MOST
    assert sample_size(TOGETHER // 8192) == 8192
    assert sample_size(10_000) == LEAST


def test_a_sample_is_even_and_small_tensors_are_whole():
    flat = torch.arange(10.0)
    assert strided(flat, 5).tolist() == [0, 2, 4, 6, 8]
    assert strided(flat, 10) is flat
    assert evenly(torch.tensor([[3.0 + 4.0j]])).tolist() == [5.0]
    assert evenly(torch.ones(3, dtype=torch.float16)).dtype is torch.float32


def test_samples_of_one_length_and_type_are_the_rows_of_a_matrix():
    samples = [torch.zeros(2), torch.ones(3), torch.full((2,), 2.0), torch.zeros(2, dtype=torch.float64)]
    found = {tuple(places): matrix.tolist() for places, matrix in matrices(samples)}
    assert found == {(0, 2): [[0, 0], [2, 2]], (1,): [[1, 1, 1]], (3,): [[0, 0]]}


def test_medians_of_rows_are_those_of_torch_and_need_no_nanmedian():
    rows = torch.tensor([[3.0, 1.0, 2.0, 4.0], [torch.nan, 5.0, torch.nan, 7.0], [torch.nan] * 4, [2.0, 2.0, 9.0, 1.0]])
    assert torch.equal(row_medians(rows)[[0, 1, 3]], rows.nanmedian(dim=1).values[[0, 1, 3]])
    assert bool(row_medians(rows)[2].isnan())
