"""Which entry of the program's lists stands for a row that a division by 0 made bad: an empty group among others that
are not, and what its row is called."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import islice
from typing import Any

import torch

from debugtracer.callsites.frame_locals import locals_of
from debugtracer.callsites.program_stack import program_stack
from debugtracer.replay.op_trace.kinds import short
from debugtracer.trace.birth import EmptyGroup

DIVISIONS = frozenset({"div", "true_divide", "reciprocal"})
GROUPS = (set, frozenset, list, tuple, dict)
DEEPEST = 4  # functions of the program that are looked at, from the innermost on (ours)
MOST = 1 << 16  # rows (ours)
CALLED = 2  # names of the row that are told (ours)


def empty_group(op: str, shape: tuple[int, ...], coordinates: Sequence[tuple[int, ...]]) -> EmptyGroup | None:
    """The empty group; None where the op is no division, or no running function of the program has a list with one
    entry for each row of which this one alone, or few, are empty."""
    if short(op) not in DIVISIONS or not coordinates or len(shape) < 1 or not coordinates[0] or shape[0] > MOST:
        return None
    row, rows = coordinates[0][0], shape[0]
    for frame in islice(program_stack(sys._getframe(1)), DEEPEST):
        values = locals_of(frame)
        name = next((name for name, value in values.items() if is_empty_at(value, row, rows)), None)
        if name is not None:
            return told(name, values, row, rows)
    return None


def is_empty_at(value: Any, row: int, rows: int) -> bool:
    """Whether a value is a list with one group for each row, of which this one is empty and most are not."""
    if type(value) not in (list, tuple) or len(value) != rows or rows < 2:
        return False
    if not all(type(one) in GROUPS for one in value) or value[row]:
        return False
    return 2 * sum(1 for one in value if not one) < rows


def told(name: str, values: dict[str, Any], row: int, rows: int) -> EmptyGroup:
    """What is known of the group."""
    named = [(other, entry) for other, value in values.items() if (entry := entry_of(value, row, rows)) is not None]
    groups = values[name]
    return EmptyGroup(
        name=name,
        row=row,
        kind=type(groups[row]).__name__,
        called=tuple(named[:CALLED]),
        others=sum(1 for one in groups if one),
    )


def entry_of(value: Any, row: int, rows: int) -> str | None:
    """What a list of numbers or words, or a tensor or array of whole numbers, holds for the row; None for anything
    else."""
    if type(value) in (list, tuple) and len(value) == rows:
        one = value[row].item() if type(value[row]).__module__ == "numpy" and value[row].ndim == 0 else value[row]
        return repr(one)[:60] if type(one) in (int, str) else None
    if isinstance(value, torch.Tensor):
        whole = value.dim() == 1 and len(value) == rows and not value.is_floating_point() and value.device.type == "cpu"
        return str(int(value[row])) if whole and value.dtype is not torch.bool else None
    if type(value).__module__ == "numpy" and getattr(value, "shape", None) == (rows,) and value.dtype.kind in "iuU":
        return str(value[row])
    return None
