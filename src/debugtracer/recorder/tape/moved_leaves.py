"""Leaves of batches on another device: which tensor there is which leaf."""

from __future__ import annotations

import weakref
from typing import Generic, TypeVar

import torch

Hit = TypeVar("Hit")
MOST = 256  # as many as batches that can be found (ours)


class MovedLeaves(Generic[Hit]):
    """The last copies, by their memory; holds none of them. No host sync."""

    def __init__(self) -> None:
        self.known: dict[int, tuple[weakref.ref[torch.Tensor], Hit]] = {}

    def put(self, copy: torch.Tensor, hit: Hit) -> None:
        """Remember what a copy stands for; the oldest is forgotten when there are too many."""
        storage = storage_of(copy)
        if storage is None:
            return
        self.known.pop(storage, None)
        if len(self.known) >= MOST:
            self.known.pop(next(iter(self.known)))
        self.known[storage] = weakref.ref(copy), hit

    def find(self, storage: int) -> Hit | None:
        """Return what the copy in this memory stands for, as long as it lives."""
        found = self.known.get(storage)
        if found is None or (copy := found[0]()) is None or storage_of(copy) != storage:
            return None
        return found[1]

    def clear(self) -> None:
        """Forget all of them."""
        self.known.clear()


def storage_of(tensor: torch.Tensor) -> int | None:
    """Return the identity of a tensor's memory; None where it has none of its own (sparse, functional, opaque)."""
    try:
        with torch._C.DisableTorchFunction():  # unseen by function modes, ours and the user's
            return int(tensor.untyped_storage()._cdata)
    except (NotImplementedError, RuntimeError):
        return None


def is_whole(tensor: torch.Tensor, leaf: torch.Tensor) -> bool:
    """Whether a tensor in the memory of a leaf is all of it."""
    return tensor is leaf or (tensor.shape == leaf.shape and tensor.storage_offset() == leaf.storage_offset())
