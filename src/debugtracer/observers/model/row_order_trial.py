"""A trial of a model that moves the rows of its batch: does the output of a row stand where its input stood?"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from debugtracer.callsites.frames import RawFrames, frames_of, raw_frames
from debugtracer.observers.model.difference import CHANGED, distance
from debugtracer.observers.model.recorded_call import RecordedCall, first_samples
from debugtracer.observers.model.shadow_model import ShadowModel, is_dense
from debugtracer.observers.model.stilled_draws import StilledDraws

ROWS = 16  # of the batch that are used (ours: an order of few rows may be its own inverse)
FEWEST = 6  # rows whose order says something (ours)
TRIED = 8  # rows that are changed, one at a time (ours)
MOVED = 3  # of these whose output must stand elsewhere (ours)


class TakenOrder(NamedTuple):
    """One place at which rows were taken in an order of their own."""

    rows: Tensor
    line: RawFrames


class OrdersTaken(TorchFunctionMode):
    """Notes where rows are taken by an index that holds each of them once."""

    def __init__(self, rows: int) -> None:
        super().__init__()
        self.rows, self.found = rows, list[TakenOrder]()

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Call the function, and note an order of rows it was given."""
        name = getattr(function, "__name__", "")
        if name in ("__getitem__", "index_select", "take_along_dim", "gather"):
            given = [a for a in (*args[1:], *(kwargs or {}).values()) if isinstance(a, Tensor)]
            for index in given[:1]:
                if is_order(index, self.rows):
                    self.found.append(TakenOrder(index.detach().clone(), raw_frames(2)))
        return function(*args, **(kwargs or {}))


def is_order(index: Tensor, rows: int) -> bool:
    """Whether an index holds each row once, and not in the order they have."""
    if index.dim() != 1 or index.shape[0] != rows or index.dtype not in (torch.int64, torch.int32):
        return False
    places = torch.arange(rows, device=index.device)
    return torch.equal(index.sort().values.long(), places) and not torch.equal(index.long(), places)


def row_order(shadow: ShadowModel | StilledDraws, kept: RecordedCall) -> dict[str, Any] | None:
    """How many rows whose input was changed, each alone and without its length, change the output of one other row and
    no more; None for a model that takes no rows in an order of its own, or puts them back."""
    args, kwargs, rows = first_samples(kept, ROWS)
    if rows < FEWEST:
        return None
    with OrdersTaken(rows) as orders:
        base, _ = shadow.run(args, kwargs)
    if not orders.found or base is None or base.shape[0] != rows or not bool(torch.isfinite(base).all()):
        return None
    tried = 0
    moved: list[tuple[int, int]] = []
    for row in torch.linspace(0, rows - 1, TRIED).long().unique().tolist():
        names = {name: with_row(value, row, rows) for name, value in kwargs.items()}
        output, _ = shadow.run(tuple(with_row(value, row, rows) for value in args), names)
        if output is None or output.shape != base.shape:
            return None
        changed = [place for place in range(rows) if (distance(base[place], output[place]) or 0.0) > CHANGED]
        if len(changed) > 1:
            return None  # rows see each other: that is another question
        tried += bool(changed)
        moved += [(row, place) for place in changed if place != row]
    if len(moved) < MOVED or 2 * len(moved) < tried:
        return None
    last = orders.found[-1]
    again = any(torch.equal(one.rows, last.rows) for one in orders.found[:-1] if one.line[:1] != last.line[:1])
    again = again and all(int(last.rows[last.rows[place]]) == row for row, place in moved)
    frames, before = frames_of(last.line), frames_of(orders.found[0].line)
    return {
        "changed": True, "position": len(moved), "length": tried, "function": "again" if again else "",
        "frame": frames[0] if frames else None, "made": before[:1],
    }  # fmt: skip


def with_row(value: Any, row: int, rows: int) -> Any:
    """An argument with other values in one row and none of them where a row may say how long it is: of whole numbers
    the first two that differ change places, numbers of one per row stay."""
    if not isinstance(value, Tensor) or value.dim() < 2 or value.shape[0] != rows or not is_dense(value):
        return value
    other = value.clone()
    if value.is_floating_point():
        other[row] = value[row] * 0.5 + value[row - 1] * 0.5
        return other
    flat = other[row].reshape(-1)
    apart = (flat[:-1] != flat[1:]).nonzero().flatten()
    if len(apart):
        at = int(apart[0])
        flat[at], flat[at + 1] = flat[at + 1].clone(), flat[at].clone()
        other[row] = flat.reshape(other[row].shape)
    return other


def in_batch_order(target: Tensor, leaves: list[Tensor]) -> bool:
    """Whether targets are a tensor of the batch in the order of its rows, all of it or its first positions."""
    for leaf in leaves:
        rows = leaf.shape[0] if leaf.dim() else 0
        if rows < FEWEST or target.numel() % rows or not is_dense(leaf):
            continue
        wide = leaf.detach().reshape(rows, -1)
        mine = target.detach().reshape(rows, -1).to(wide.device)
        for begin in (0, 1):
            part = wide[:, begin : begin + mine.shape[1]]
            if part.shape == mine.shape and bool((part == mine.to(part.dtype)).all()):
                return not bool((part == part[:1]).all())
    return False
