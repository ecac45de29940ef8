"""Which tensor on another device is which leaf."""

from __future__ import annotations

import torch

from debugtracer.recorder.tape.moved_leaves import MOST, MovedLeaves, storage_of


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
