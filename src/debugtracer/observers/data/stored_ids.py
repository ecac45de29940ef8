"""Finds the array of small unsigned integers that ids were read from, and which of its numbers occur."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from types import CodeType
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from debugtracer.callsites.definitions import assigned_at, frame_at, parsed, targets_of
from debugtracer.callsites.stored_entries import Held, reachable
from debugtracer.observers.loaders.untouched import inner
from debugtracer.trace.birth import Frame

LIMITS = {"uint8": 255, "uint16": 65535}
FEWEST = 256  # elements of an array (ours)
RUN, DIFFERENT = 8, 4  # ids one after the other that are looked for, and how many of them must differ (ours)
ROWS = 16  # samples of one id each that must all be found (ours)
LONGEST = 32  # ids one after the other that are compared (ours)
SEARCHED = 1 << 24  # elements that are searched (ours: some ten milliseconds)
READ, BLOCKS = 1 << 22, 64  # elements that are read to see which numbers occur, and in how many parts (ours)


class SoughtIds(NamedTuple):
    """Ids that were looked up: those of the first sample, and the first one of each."""

    run: Any
    firsts: Any
    indices: tuple[int, ...] | None
    """Of the samples in their dataset."""


class Stored(NamedTuple):
    """An array and what holds it."""

    array: Any
    name: str
    holder: str = ""
    """The name or attribute, and its object, or the code of the function."""
    owner: Any = None

    def set_at(self) -> Frame | None:
        """The line that gives it to the name or attribute."""
        if not isinstance(self.owner, CodeType):
            return assigned_at(type(self.owner), self.holder) if self.owner is not None else None
        for line, node in parsed(self.owner):
            targets = targets_of(node) if isinstance(node, (ast.Assign, ast.AnnAssign)) else []
            if any(isinstance(target, ast.Name) and target.id == self.holder for target in targets):
                return frame_at(self.owner, line)
        return None


def asked(ids: Tensor, indices: tuple[int, ...] | None) -> SoughtIds:
    """Copy what is needed of some ids."""
    rows = ids.detach().reshape(len(ids), -1)
    known = indices if indices is not None and len(indices) == len(rows) else None
    return SoughtIds(rows[0, :LONGEST].cpu().numpy().copy(), rows[:, 0].cpu().numpy().copy(), known)


def narrow(value: Any) -> Any:
    """The flat elements of an array of small unsigned integers; None for anything else."""
    if isinstance(value, Tensor):
        small = value.dtype in (torch.uint8, torch.uint16) and type(value) is Tensor
        if not small or value.device.type != "cpu" or not value.is_contiguous() or value.numel() < FEWEST:
            return None
        return value.detach().reshape(-1).numpy()
    plain = isinstance(value, np.ndarray) and value.dtype.name in LIMITS and value.dtype.isnative
    return value.reshape(-1) if plain and value.size >= FEWEST and value.flags.c_contiguous else None


def held(dataset: Any) -> Iterator[Stored]:
    """Yield the arrays that the program holds: those of a dataset, and those that names of the running functions
    reach."""
    dataset = inner(dataset)
    attributes = dict(vars(dataset)) if hasattr(dataset, "__dict__") else {}
    for one in [*(Held(value, name, dataset) for name, value in attributes.items()), *reachable()]:
        value = one.value
        parts = value.items() if isinstance(value, dict) else enumerate(value) if is_short(value) else ()
        for label, part in [("", value), *((f"[{key!r}]", part) for key, part in parts)]:
            flat = narrow(part)
            if flat is not None:
                yield Stored(flat, one.where() + label, one.name, one.owner)


def is_short(value: Any) -> bool:
    """Whether a value is a short list."""
    return isinstance(value, (list, tuple)) and len(value) <= ROWS


def holds(flat: Any, ids: SoughtIds) -> bool:
    """Whether these ids were read from an array: they are a run of it, or its elements at the places of the samples."""
    if len(ids.run) >= RUN:
        return len(np.unique(ids.run)) >= DIFFERENT and has_run(flat[:SEARCHED], ids.run)
    if ids.indices is None or len(ids.indices) < ROWS or len(np.unique(ids.firsts)) < DIFFERENT:
        return False
    places = np.asarray(ids.indices)
    return bool(places.max() < len(flat)) and np.array_equal(flat[places], ids.firsts)


def has_run(flat: Any, run: Any) -> bool:
    """Whether some numbers stand one after the other in an array."""
    places = np.flatnonzero(flat[: max(len(flat) - len(run) + 1, 0)] == run[0])
    for offset, number in enumerate(run[1:], start=1):
        if not len(places):
            return False
        places = places[flat[places + offset] == number]
    return bool(len(places))


def occurring(flat: Any, limit: int) -> tuple[Any, int]:
    """Which numbers occur in an array, of a long one in parts of it, and how many elements were read."""
    occurs = np.zeros(limit + 1, dtype=bool)
    if len(flat) <= READ:
        occurs[flat] = True
        return occurs, len(flat)
    size = READ // BLOCKS
    for start in np.linspace(0, len(flat) - size, BLOCKS).astype(np.int64).tolist():
        occurs[flat[start : start + size]] = True
    return occurs, READ
