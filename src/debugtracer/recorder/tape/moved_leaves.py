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

    def whole(self, tensor: torch.Tensor) -> torch.Tensor | None:
        """Return the copy in whose memory a tensor is, as long as it lives."""
        storage = storage_of(tensor)
        return self.known[storage][0]() if storage is not None and self.find(storage) is not None else None

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
    """Whether a tensor in the memory of a leaf is all of it, and lies in it as it does."""
    if tensor is leaf:
        return True
    begins_alike = tensor.shape == leaf.shape and tensor.storage_offset() == leaf.storage_offset()
    return begins_alike and tensor.stride() == leaf.stride()  # a square one may be turned


def is_copy(tensor: torch.Tensor, leaf: torch.Tensor) -> bool:
    """Whether a tensor has the values of a leaf, bad ones included; it may be of another device and precision."""
    if any(one.layout is not torch.strided or one.is_nested or one.is_meta for one in (tensor, leaf)):
        return False
    if tensor.shape != leaf.shape or tensor.is_floating_point() != leaf.is_floating_point():
        return False
    own = leaf.detach().to(tensor.device, tensor.dtype)
    return bool(torch.isclose(tensor.detach(), own, rtol=0.0, atol=0.0, equal_nan=True).all())
