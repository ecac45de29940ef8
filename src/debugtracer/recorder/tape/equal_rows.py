"""Which rows of a batch a copy holds, by their values: rows that the program has picked or put into another order."""

from __future__ import annotations

from collections import Counter

import torch
from torch import Tensor

from debugtracer.recorder.tape.batches import Batch, BatchLog
from debugtracer.recorder.tape.held_rows import OTHER, HeldRows, all_rows

MOST = 1 << 18  # elements of a leaf that are compared (ours)


def known_rows(tensor: Tensor, batches: BatchLog, batch: Batch) -> HeldRows | None:
    """Which rows of a batch a tensor holds, by its memory, else by its values; None where it has rows of no leaf. Syncs
    the host."""
    found = batches.find(tensor)
    return batches.held_rows(tensor) if found is not None and found[0] is batch else equal_rows(tensor, batch)


def equal_rows(tensor: Tensor, batch: Batch) -> HeldRows | None:
    """The rows of a leaf that a tensor repeats, whatever its shape and type; OTHER for one that several may be."""
    best: HeldRows | None = None
    for _, leaf in batch.tensors():
        if not batch.rows or not leaf.dim() or leaf.shape[0] != batch.rows or not comparable(tensor, leaf):
            continue
        width = leaf.numel() // batch.rows
        if tensor.numel() % width or tensor.numel() > leaf.numel():
            continue
        found = repeated(lines(tensor, width), lines(leaf, width))
        if found is not None and (best is None or found.count(OTHER) < list(best.at).count(OTHER)):
            in_order = found == list(range(batch.rows))
            best = all_rows(batch.rows) if in_order else HeldRows(tuple(found), batch.rows)
    return best


def comparable(tensor: Tensor, leaf: Tensor) -> bool:
    """Whether two tensors hold numbers that can be laid side by side."""
    plain = all(t.layout is torch.strided and not t.is_nested and t.device.type == "cpu" for t in (tensor, leaf))
    return plain and tensor.numel() > 0 and 0 < leaf.numel() <= MOST and not (tensor.is_complex() or leaf.is_complex())


def lines(tensor: Tensor, width: int) -> list[tuple[float, ...]]:
    """The rows of a tensor as numbers."""
    with torch._C.DisableTorchFunction():
        return [tuple(row) for row in tensor.detach().reshape(-1, width).double().tolist()]


def repeated(given: list[tuple[float, ...]], known: list[tuple[float, ...]]) -> list[int] | None:
    """Where each of some rows stands among those of a leaf; None where they are not taken from it, each once."""
    if given == known:
        return list(range(len(known)))
    counts = Counter(known)
    if Counter(given) - counts:
        return None
    first = {row: place for place, row in reversed([*enumerate(known)])}
    return [first[row] if counts[row] == 1 else OTHER for row in given]
