"""Checksums see every bit."""

from __future__ import annotations

import pytest
import torch

from debugtracer.observers.checkpoint.checksum import bits, checksum, checksums


@pytest.mark.parametrize(
    "dtype",
    [
        torch.float64,
        torch.float32,
        torch.bfloat16,
        torch.float16,
        torch.int64,
        torch.uint8,
        torch.bool,
        torch.complex64,
    ],
    ids=str,
)
def test_one_bit_changes_the_sum(dtype):
    tensor = (torch.rand(5, 7) * 9).to(dtype)
    twin = tensor.clone()
    assert checksum(tensor) == checksum(twin)
    words = bits(twin)
    words.reshape(-1)[11] ^= 1
    assert checksum(tensor) != checksum(twin)


def test_a_list_of_tensors_with_gaps():
    a = torch.ones(3)
    assert checksums([a, None, torch.eye(3).to_sparse(), torch.empty(3, device="meta"), a]) == (
        checksums([a])[0],
        0,
        0,
        0,
        checksums([a])[0],
    )
    assert checksums([]) == ()
    assert checksums([None]) == (0,)


def test_nan_and_the_sign_of_zero_count():
    assert checksums([torch.tensor([float("nan")])]) == checksums([torch.tensor([float("nan")])])
    assert checksums([torch.tensor([0.0])]) != checksums([torch.tensor([-0.0])])


def test_nothing_is_kept_alive():
    weight = torch.nn.Parameter(torch.ones(4))
    assert not bits(weight).requires_grad
