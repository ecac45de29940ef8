"""Copies of tensors between two updates: small ones side by side in one memory, so that one comparison tells whether
any of them has changed."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from debugtracer.observers.checkpoint.checksum import bits
from debugtracer.recorder.state.weak import WeakRef

TOGETHER = 1 << 20  # bytes of all tensors up to which they are compared in one memory (ours: it is filled once more)


@dataclass
class RestChecksum:
    """One tensor after an update."""

    tensor: weakref.ref[Tensor]
    owner: weakref.ref[Tensor]
    what: str
    version: int
    copy: Tensor

    def holds(self, tensor: Tensor) -> bool:
        """True if the copy can take this tensor again."""
        copy = self.copy
        return (
            self.tensor() is tensor
            and copy.shape == tensor.shape
            and copy.dtype == tensor.dtype
            and copy.device == tensor.device
        )


class RestCopies:
    """The tensors of one optimizer after an update."""

    def __init__(self, plain: Sequence[tuple[Tensor, str, Tensor]]) -> None:
        """Copy tensors, each given with the parameter that it belongs to and what it is."""
        tensors = [t for _, _, t in plain]
        self.flat, self.scratch, copies, self.views = side_by_side(tensors)
        self.kept = [
            RestChecksum(WeakRef(t), WeakRef(owner), what, t._version, copy)
            for (owner, what, t), copy in zip(plain, copies, strict=True)
        ]

    def take(self, tensors: Sequence[Tensor]) -> bool:
        """Copy the same tensors again, into the same memory; False, and nothing is copied, where they are others."""
        kept = self.kept
        if len(kept) != len(tensors) or not all(map(RestChecksum.holds, kept, tensors)):
            return False
        with torch.no_grad():
            torch._foreach_copy_([k.copy for k in kept], list(tensors))
        for k, t in zip(kept, tensors, strict=True):
            k.version = t._version
        return True

    def changed(self) -> list[RestChecksum]:
        """Return those of which a bit is another now."""
        if self.same():
            return []
        return [
            k
            for k in self.kept
            if (now := k.tensor()) is not None and now.shape == k.copy.shape and differ(now, k.copy)
        ]

    def same(self) -> bool:
        """True if no bit of any tensor has changed, told in two calls of torch; False where that cannot be told so."""
        if self.flat is None or self.scratch is None:
            return False
        now = [t for k in self.kept if (t := k.tensor()) is not None and k.holds(t)]
        if len(now) < len(self.kept):
            return False
        with torch.no_grad():
            torch._foreach_copy_(self.views, now)
        return torch.equal(self.flat, self.scratch)


def side_by_side(tensors: Sequence[Tensor]) -> tuple[Tensor | None, Tensor | None, list[Tensor], list[Tensor]]:
    """Copy tensors into one memory where they are small and of one kind: that memory and another one like it as
    integers, the copies, and where each lies in the other one. Else each copy stands alone."""
    kinds = {(t.dtype, t.device) for t in tensors}
    small = len(kinds) == 1 and sum(t.nbytes for t in tensors) <= TOGETHER
    if not small or not all(type(t) in (Tensor, torch.nn.Parameter) and t.is_cpu for t in tensors):
        return None, None, [t.detach().clone(memory_format=torch.preserve_format) for t in tensors], []
    with torch.no_grad():
        flat = torch.empty(sum(t.numel() for t in tensors), dtype=tensors[0].dtype)
        scratch = torch.zeros_like(flat)
        sizes = [t.numel() for t in tensors]
        copies, views = (
            [part.view(t.shape) for part, t in zip(memory.split(sizes), tensors, strict=True)]
            for memory in (flat, scratch)
        )
        torch._foreach_copy_(copies, list(tensors))
        return bits(flat), bits(scratch), copies, views


def differ(now: Tensor, copy: Tensor) -> bool:
    """True for other bits; compares numbers first, which is quick and fails for NaN."""
    return not torch.equal(now.detach(), copy) and not bits(now).equal(bits(copy))
