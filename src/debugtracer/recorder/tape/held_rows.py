"""Which rows of a batch a tensor holds: those that a view was cut from, and those that an op has picked, turned or put
together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor

from debugtracer.recorder.tape.moved_leaves import is_whole

MOST_ROWS = 65_536  # that are followed one by one (ours)
MOST_NUMBERS = 2**22  # elements of the numbers that an op is run on (ours: 32 MiB)
MOVES = frozenset(
    {"index", "_unsafe_index", "index_select", "flip", "roll", "cat", "repeat", "gather", "masked_select"}
)
"""Ops that give out rows of what they read in another order, or some of them."""
SPREADS = frozenset({"index_put", "_index_put_impl_", "slice_backward", "select_backward", "index_add", "index_copy"})
"""Ops that put rows back to where they were taken from."""
OTHER = -1
"""In place of a row: not of this batch."""


@dataclass(frozen=True)
class HeldRows:
    """Rows of a batch of `of` rows, in the order in which a tensor holds them; empty: in an order that is not known."""

    at: Sequence[int]
    of: int
    turned: bool = field(default=False, compare=False)
    """Their dimension may be another than the first, or not the outermost one in memory: a copy with time first."""

    def rows(self, places: Iterable[int]) -> set[int] | None:
        """Return the rows of the batch at these places of the tensor; None where one is not known."""
        found = {self.at[place] if 0 <= place < len(self.at) else OTHER for place in places}
        return found if found and OTHER not in found else None


def all_rows(rows: int) -> HeldRows:
    """Take all rows, in their own order."""
    return HeldRows(range(rows), rows)


def unknown_rows(rows: int) -> HeldRows:
    """Return rows in an order that is not known."""
    return HeldRows((), rows)


def ordered(at: Sequence[int], rows: int) -> HeldRows:
    """Take rows one by one; one that fills all places once, all in their order as a range."""
    if not at or len(at) > MOST_ROWS:
        return unknown_rows(rows)
    if len(set(at)) == 1:
        return HeldRows((at[0],), rows)
    return (
        all_rows(rows) if len(at) == rows and all(i == row for i, row in enumerate(at)) else HeldRows(tuple(at), rows)
    )


def outermost(tensor: Tensor) -> int:
    """The dimension whose indices lie furthest apart in memory."""
    wide = [d for d, size in enumerate(tensor.shape) if size > 1]
    return max(wide, key=lambda d: (tensor.stride(d), -d)) if wide else 0


def rows_of_memory(tensor: Tensor, low: int, high: int, count: int, base: HeldRows) -> HeldRows:
    """The rows that a strided tensor shows of memory [low, high), bytes, where `count` rows lie one after another, as
    `base` says."""
    if base.turned or not base.at or not tensor.numel() or count % len(base.at) or (high - low) % len(base.at):
        return base
    size, width = tensor.element_size(), (high - low) // len(base.at)
    start, outer = int(tensor.storage_offset()) * size - low, outermost(tensor)
    if not tensor.dim() or tensor.shape[outer] > MOST_ROWS:
        return unknown_rows(base.of)
    inner = size * (
        1 + sum((n - 1) * s for d, (n, s) in enumerate(zip(tensor.shape, tensor.stride(), strict=True)) if d != outer)
    )
    firsts = [start + i * tensor.stride(outer) * size for i in range(tensor.shape[outer])]
    if any(first % width + inner > width for first in firsts):
        return unknown_rows(base.of)
    return ordered([base.at[first // width] for first in firsts], base.of)


def rows_of_view(tensor: Tensor, leaf: Tensor, rows: int) -> HeldRows | None:
    """The rows that a tensor in the memory of a leaf of a batch holds; None where the leaf has no row for each
    sample."""
    if not leaf.dim() or leaf.shape[0] != rows:
        return None
    if is_whole(tensor, leaf):
        return all_rows(rows)
    if leaf.layout is not torch.strided or tensor.layout is not torch.strided or tensor.dtype != leaf.dtype:
        return unknown_rows(rows)
    size, low = leaf.element_size(), int(leaf.storage_offset()) * leaf.element_size()
    if not leaf.is_contiguous():
        return unknown_rows(rows)
    return rows_of_memory(tensor, low, low + leaf.numel() * size, rows, all_rows(rows))


def rows_after_move(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], held: dict[int, HeldRows]
) -> HeldRows:
    """The rows in the result of an op that moves rows: it is run once more on their numbers. `held` says by the id of a
    tensor what it holds; it is not empty. Syncs the host."""
    of = next(iter(held.values())).of
    if any(not taken.at or taken.of != of for taken in held.values()):
        return unknown_rows(of)

    several = isinstance(args[0], (list, tuple))
    given = [t for t in (args[0] if several else args[:1]) if isinstance(t, Tensor)]
    if not given or sum(t.numel() for t in given) > MOST_NUMBERS:
        return unknown_rows(of)
    numbers = [row_numbers(t, held.get(id(t))) for t in given]
    if any(found is None for found in numbers):
        return unknown_rows(of)
    out = function(numbers if several else numbers[0], *args[1:], **kwargs)
    return read_back(out, of) if isinstance(out, Tensor) else unknown_rows(of)


def row_numbers(value: Tensor, taken: HeldRows | None) -> Tensor | None:
    """The numbers of its rows in the shape of a tensor, along its batch; None where that is not known."""
    if taken is None:
        return torch.full(value.shape, OTHER, device=value.device)
    along = row_dim(value, taken)
    if along is None:
        return None
    each = value.shape[along] // len(taken.at)
    rows = torch.tensor(list(taken.at), device=value.device).repeat_interleave(each)
    return rows.view([-1 if d == along else 1 for d in range(value.dim())]).expand(value.shape).contiguous()


def row_dim(value: Tensor, taken: HeldRows) -> int | None:
    """The dimension that holds the rows: the outermost one in memory, else the only one of that size."""
    if taken.turned:
        places = [d for d, size in enumerate(value.shape) if size == len(taken.at)]
        return places[0] if len(places) == 1 else None
    outer = outermost(value)
    return outer if value.dim() and value.shape[outer] and value.shape[outer] % len(taken.at) == 0 else None


def read_back(numbers: Tensor, of: int) -> HeldRows:
    """The rows that lie along a dimension of the numbers, with nothing of another row beside them."""
    if not numbers.numel():
        return unknown_rows(of)
    for dim in range(max(numbers.dim(), 1)):
        lines = numbers.movedim(dim, 0).reshape(numbers.shape[dim], -1) if numbers.dim() else numbers.reshape(1, 1)
        rows = lines.amax(1)
        if bool(((lines == rows[:, None]) | (lines == OTHER)).all()):
            return replace(ordered(rows.tolist(), of), turned=dim != first_wide(numbers))
    return unknown_rows(of)


def first_wide(tensor: Tensor) -> int:
    """The first dimension with more than one index."""
    return next((d for d, size in enumerate(tensor.shape) if size > 1), 0)


def lies_first(tensor: Tensor) -> bool:
    """Whether its first dimension is the outermost one in memory."""
    return tensor.layout is torch.strided and not tensor.is_nested and outermost(tensor) == first_wide(tensor)


def common_rows(read: Iterable[HeldRows]) -> HeldRows | None:
    """What an op that keeps its rows has read: what the tensor with most rows holds, where all with as many agree."""
    known = list(read)
    if not known:
        return None
    most = max(len(taken.at) for taken in known)
    widest = [taken for taken in known if len(taken.at) == most]
    same = all(taken == widest[0] for taken in widest) and all(taken.at for taken in known)
    return widest[0] if same else unknown_rows(known[0].of)
