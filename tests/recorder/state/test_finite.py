"""Tensors of any kind are looked at, other values are not."""

from __future__ import annotations

import torch

from debugtracer.recorder.state.finite import all_finite


def test_a_bad_value_is_found_and_a_large_one_is_none() -> None:
    assert all_finite([torch.full((3,), 3e38), torch.tensor([1, 2]), "word", 5, torch.tensor([])])
    assert not all_finite([torch.ones(2), torch.tensor([1.0, float("inf")])])
    assert not all_finite([torch.tensor(float("nan"), dtype=torch.bfloat16)])
