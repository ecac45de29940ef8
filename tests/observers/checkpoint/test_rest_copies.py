"""Copies between two updates: which tensor has changed, told for small ones in one comparison."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from debugtracer.observers.checkpoint.rest_copies import TOGETHER, RestCopies, differ
from tests.counts.test_aten_calls import AtenCalls


def made(*tensors: Tensor) -> RestCopies:
    return RestCopies([(t, "parameter", t) for t in tensors])


def some() -> list[Tensor]:
    torch.manual_seed(0)
    image = torch.randn(2, 3, 4, 4).to(memory_format=torch.channels_last)
    return [nn.Parameter(torch.randn(4, 8)), torch.randn(3), image, torch.empty(0), torch.tensor(float("nan"))]


def test_nothing_has_changed_where_nothing_was_written() -> None:
    tensors = some()
    copies = made(*tensors)
    assert copies.same()
    assert copies.changed() == []


@pytest.mark.parametrize("number", [0, 1, 2, 4])
def test_one_bit_of_any_of_them_is_found(number: int) -> None:
    tensors = some()
    copies = made(*tensors)
    tensors[number].data.view(torch.int32).bitwise_xor_(1)
    (changed,) = copies.changed()
    assert changed.tensor() is tensors[number]


def test_a_zero_that_changes_its_sign_is_another_bit() -> None:
    zero = torch.zeros(4)
    copies = made(zero)
    zero[1] = -0.0
    assert len(copies.changed()) == 0  # equal as numbers: no update is wrong by it
    assert not copies.same()


def test_what_is_taken_again_is_compared_with_its_new_values() -> None:
    tensors = some()
    copies = made(*tensors)
    with torch.no_grad():
        tensors[0] += 1
    assert copies.take(tensors)
    assert copies.changed() == []
    assert copies.kept[0].version == tensors[0]._version


@pytest.mark.parametrize("other", [torch.randn(5), torch.randn(3, dtype=torch.float64)])
def test_other_tensors_are_not_taken(other: Tensor) -> None:
    tensors = some()
    copies = made(*tensors)
    assert not copies.take([tensors[0], other, *tensors[2:]])
    assert not copies.take(tensors[:2])
    tensors[1].data = other
    assert not copies.take(tensors)


def test_a_tensor_that_was_given_other_data_is_compared_alone() -> None:
    tensors = some()
    copies = made(*tensors)
    tensors[0].data = torch.randn(9)
    tensors[1][0] = 7.0
    assert [k.tensor() for k in copies.changed()] == [tensors[1]]


def test_large_ones_and_several_kinds_have_copies_of_their_own() -> None:
    large = torch.zeros(TOGETHER)
    for tensors in ([large], [torch.zeros(2), torch.zeros(2, dtype=torch.float64)]):
        copies = made(*tensors)
        assert copies.flat is None
        tensors[0][1] = 1.0
        assert [k.tensor() for k in copies.changed()] == [tensors[0]]


def test_two_calls_of_torch_compare_any_number_of_small_ones() -> None:
    tensors = [torch.zeros(3) for _ in range(50)]
    copies = made(*tensors)
    with AtenCalls() as counted:
        assert copies.same()
    assert dict(counted.counts) == {"aten::_foreach_copy_": 1, "aten::equal": 1}


def test_numbers_that_are_equal_do_not_differ_and_nan_is_compared_by_its_bits() -> None:
    nan = torch.tensor([float("nan")])
    assert not differ(nan, nan.clone())
    assert differ(nan, torch.ones(1))
