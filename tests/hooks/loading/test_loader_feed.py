"""Facts about reading what a sampler yields."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from debugtracer.hooks.loading.loader_feed import as_indices


@pytest.mark.parametrize("index", [7, np.int64(7), torch.tensor(7)])
def test_one_integer_of_any_kind_is_an_int(index):
    assert as_indices(index) == 7
    assert type(as_indices(index)) is int


@pytest.mark.parametrize(
    "index", [[1, 2], (1, 2), range(1, 3), np.array([1, 2]), torch.tensor([1, 2]), [torch.tensor(1), np.int32(2)]]
)
def test_several_integers_of_any_kind_are_a_tuple_of_ints(index):
    assert as_indices(index) == (1, 2)
    assert {type(one) for one in as_indices(index)} == {int}


@pytest.mark.parametrize(
    "index",
    ["12", b"12", ["a", "b"], None, [None, None], 1.5, [1.0, 2.0], slice(0, 4), torch.tensor([1.0]), [(1, 2), (3, 4)]],
)
def test_keys_that_are_not_integers_are_unknown(index):
    assert as_indices(index) is None


def test_a_list_the_sampler_reuses_is_copied():
    index = [1, 2]
    kept = as_indices(index)
    index[0] = 99
    assert kept == (1, 2)
