"""Which tensor of a batch the targets of a loss are, also where a model makes them of the labels it is given."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

from torch import Tensor

from debugtracer.recorder.tape.batches import Batch, BatchLog, LoaderInfo

BatchLeaf: TypeAlias = tuple[LoaderInfo, str]
"""A loader, and the path of one tensor of its batches."""


def leaf_of(batches: BatchLog, target: Tensor) -> BatchLeaf | None:
    """The tensor of a batch that targets are, or a view of."""
    known = batches.find(target)
    return (known[0].loader, known[1]) if known is not None else None


def batch_of(batches: BatchLog, given: Iterable[Any]) -> Batch | None:
    """The batch that one of these arguments is of."""
    return next((known[0] for v in given if isinstance(v, Tensor) and (known := batches.find(v)) is not None), None)


def labels_in(batch: Batch, target: Tensor) -> BatchLeaf | None:
    """The tensor of a batch that targets were made of: they are it, or all but the first of each row, perhaps filled
    up to its length. Waits for the device."""
    return next(((batch.loader, path) for path, leaf in batch.tensors() if is_made_of(target, leaf)), None)


def is_made_of(target: Tensor, leaf: Tensor) -> bool:
    """Whether targets are whole numbers of a batch as they are, or moved on by one position."""
    if leaf.is_floating_point() or leaf.is_complex() or leaf.dim() != 2 or not leaf.numel():
        return False
    own = leaf.detach().to(target.device, target.dtype)
    if target.numel() == own.numel():
        rows = target.reshape(own.shape)
        filled = bool((rows[:, -1] == rows[0, -1]).all()) and bool((rows[:, :-1] == own[:, 1:]).all())
        return filled or bool((rows == own).all())
    return target.numel() == own[:, 1:].numel() and bool((target.flatten() == own[:, 1:].flatten()).all())
