"""Which tensor on another device is which leaf."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch

from debugtracer.recorder.tape.moved_leaves import MOST, MovedLeaves, is_copy, is_whole, storage_of


def test_a_copy_is_found_by_its_memory_as_long_as_it_lives() -> None:
    moved: MovedLeaves[str] = MovedLeaves()
    copy = torch.ones(4, 3)
    moved.put(copy, "batch[0]")
    storage = storage_of(copy[:, 1:])
    assert storage is not None and moved.find(storage) == "batch[0]"
    del copy
    assert moved.find(storage) is None


def test_few_are_remembered_and_none_of_what_has_no_memory() -> None:
    moved: MovedLeaves[int] = MovedLeaves()
    copies = [torch.ones(4) for _ in range(2 * MOST)]
    for number, copy in enumerate(copies):
        moved.put(copy, number)
    moved.put(torch.eye(3).to_sparse(), -1)
    assert len(moved.known) == MOST
    assert [moved.find(storage_of(copy) or 0) for copy in (copies[0], copies[-1])] == [None, 2 * MOST - 1]
    moved.clear()
    assert not moved.known


def test_what_is_put_again_is_the_newest_and_the_oldest_is_forgotten() -> None:
    moved: MovedLeaves[int] = MovedLeaves()
    copies = [torch.ones(4) for _ in range(MOST + 1)]
    for number, copy in enumerate(copies[:MOST]):
        moved.put(copy, number)
    assert MOST == 256
    assert [moved.find(storage_of(copy) or 0) for copy in copies[:2]] == [0, 1]
    moved.put(copies[0], -1)
    assert len(moved.known) == MOST
    moved.put(copies[MOST], MOST)
    assert [moved.find(storage_of(copy) or 0) for copy in (copies[0], copies[1], copies[2])] == [-1, None, 2]


def test_the_copy_in_whose_memory_a_view_lies_is_given_whole() -> None:
    moved: MovedLeaves[str] = MovedLeaves()
    copy = torch.ones(4, 3)
    moved.put(copy, "batch")
    assert moved.whole(copy[1:]) is copy
    assert moved.whole(torch.ones(2)) is None
    assert moved.whole(torch.eye(3).to_sparse()) is None


def test_a_copy_that_was_given_other_memory_is_not_found_in_its_old_one() -> None:
    moved: MovedLeaves[str] = MovedLeaves()
    copy = torch.ones(4)
    keeps_memory, storage = copy.detach(), storage_of(copy)
    moved.put(copy, "batch")
    copy.data = torch.zeros(4)
    assert storage is not None and storage_of(keeps_memory) == storage
    assert moved.find(storage) is None


@pytest.mark.parametrize(
    ("cut", "whole"),
    [
        (lambda x: x, True),
        (lambda x: x.detach(), True),
        (lambda x: x.t(), False),
        (lambda x: x[1:], False),
        (lambda x: x[:2], False),
        (lambda x: x.view(-1), False),
    ],
)
def test_a_view_is_whole_where_it_lies_as_its_leaf_does(cut: Any, whole: bool) -> None:
    leaf = torch.arange(9.0).reshape(3, 3)
    assert is_whole(cut(leaf), leaf) is whole


def test_a_part_of_the_same_shape_further_on_is_not_the_leaf() -> None:
    memory = torch.arange(8.0)
    assert not is_whole(memory[4:], memory[:4])


@pytest.mark.parametrize(
    ("tensor", "leaf", "copies"),
    [
        (torch.tensor([1.0, math.nan, math.inf]), torch.tensor([1.0, math.nan, math.inf]), True),
        (torch.tensor([1.0, 2.0]).double(), torch.tensor([1.0, 2.0]), True),
        (torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.0000002]), False),
        (torch.tensor([1, 2]), torch.tensor([1.0, 2.0]), False),
        (torch.tensor([1.0, 2.0]), torch.tensor([1, 2]), False),
        (torch.tensor([1, 2]), torch.tensor([1, 2], dtype=torch.int32), True),
        (torch.zeros(2, 1), torch.zeros(2), False),
        (torch.zeros(1), torch.zeros(2), False),
        (torch.zeros(2, 2).to_sparse(), torch.zeros(2, 2), False),
        (torch.zeros(2, 2), torch.zeros(2, 2).to_sparse(), False),
        (torch.zeros(2, device="meta"), torch.zeros(2, device="meta"), False),
    ],
)
def test_a_copy_has_the_same_values_bad_ones_included(tensor: torch.Tensor, leaf: torch.Tensor, copies: bool) -> None:
    assert is_copy(tensor, leaf) is copies


def test_a_nested_tensor_is_no_copy() -> None:
    nested = torch.nested.nested_tensor([torch.zeros(2), torch.zeros(2)])
    assert not is_copy(nested, nested)
    assert not is_copy(torch.zeros(2, 2), nested)
