"""Arrays and lists of records that the user's running functions can reach: what a program without a DataLoader takes
the rows of its batches from."""

from __future__ import annotations

import ast
import functools
import itertools
import math
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from types import CodeType, GeneratorType
from typing import Any

import numpy as np
import torch
from torch import Tensor

from debugtracer.callsites.definitions import assigned_at, frame_at, parsed
from debugtracer.callsites.frame_locals import locals_of
from debugtracer.callsites.frames import USER, place_of
from debugtracer.callsites.origins.value_origin import made_first, origin
from debugtracer.callsites.stored_entries import Held, is_array, methods, reachable
from debugtracer.trace.birth import Frame

PARTS = 8  # arrays of one tuple or dict, and fields of one record (ours)
MOST_LISTED = 1 << 20  # numbers of a list that is made an array for a look (ours: 0.1 s)
MOST_COPIED = 1 << 26  # bytes of an array that must be copied for a look (ours)
NUMBERS = (int, float)


@dataclass(frozen=True)
class StoredColumn:
    """One array with a row for each sample, or one field of the records of a list."""

    held: Held
    value: Any
    key: Any = None
    """Of a list: the place or key of the field in each record; None for the record itself."""
    part: Any = None
    """Of a tuple or a dict of arrays: which of them."""
    cut: bool = False
    """What the name holds is a part of it."""

    def __len__(self) -> int:
        return len(self.value)

    def where(self) -> str:
        """How a person would call it: `x_train`, `Feed.rows`."""
        return self.held.where() + ("" if self.part is None else f"[{self.part!r}]")

    def what(self) -> str:
        """The same with the field of its records: `field 1 of Feed.rows`."""
        return self.where() if self.key is None else f"field {self.key!r} of {self.where()}"

    @functools.cached_property
    def table(self) -> Tensor | None:
        """The rows as a CPU tensor, of an array in its own memory; None for what is no table of numbers, for a file
        that is read as an array, and for a large one that does not lie in its memory row by row."""
        if isinstance(self.value, Tensor):
            lies = self.value.is_contiguous() or self.value.nbytes <= MOST_COPIED
            return self.value.detach() if lies else None
        if isinstance(self.value, np.ndarray):
            lies = self.value.flags.c_contiguous and self.value.flags.writeable
            if isinstance(self.value, np.memmap) or not (lies or self.value.nbytes <= MOST_COPIED):
                return None
            return torch.from_numpy(self.value if lies else self.value.copy())
        return listed([one if self.key is None else one[self.key] for one in self.value])

    def cut_at(self) -> Frame | None:
        """The line that takes a part of it: a slice of its name, or an index."""
        owner, name = self.held.owner, self.held.name
        of_function = isinstance(owner, CodeType)
        name = name if of_function else f"self.{name}"
        for function in [owner] if of_function else methods(owner):
            for line, node in parsed(function):
                parts = ast.walk(node) if isinstance(node, ast.stmt) and not hasattr(node, "body") else ()
                if any(isinstance(part, ast.Subscript) and ast.unparse(part.value) == name for part in parts):
                    return frame_at(function, line)
        return None

    def made(self, stack: Sequence[Frame]) -> tuple[Frame, ...]:
        """The user's lines from the one that made its values to the one that wrote them last; `stack`: those that run
        now, the innermost first. Reads source."""
        owner, name = self.held.owner, self.held.name
        if not isinstance(owner, CodeType):
            line = assigned_at(type(owner), name)
            return (line,) if line is not None else ()
        runs = [n for n, frame in enumerate(stack) if frame.function == owner.co_name]
        return made_first(origin(name, stack[runs[0] :])) if runs else ()


def stored_columns(fewest: int) -> Iterator[StoredColumn]:
    """Yield what the user's functions on the stack can reach and what has more than `fewest` rows: names, attributes
    of objects of the user's classes, names of generators that wait."""
    for held in reachable():
        yield from columns_of(held, held.value, fewest)
        generator = held.value
        if isinstance(generator, GeneratorType) and generator.gi_frame and place_of(generator.gi_code) == USER:
            for name, value in locals_of(generator.gi_frame).items():
                yield from columns_of(Held(value, name, generator.gi_code), value, fewest)


def columns_of(held: Held, value: Any, fewest: int) -> Iterator[StoredColumn]:
    """Yield the columns of one value: an array with the array that it is a view of, parts of a tuple or dict, fields
    of the records of a list."""
    if is_array(value):
        yield from of_array(held, value, None, fewest)
    elif isinstance(value, (dict, tuple)):
        parts = value.items() if isinstance(value, dict) else enumerate(value)
        for (place, part), _ in zip(parts, range(PARTS), strict=False):
            if is_array(part):
                yield from of_array(held, part, place, fewest)
    elif isinstance(value, (list, deque)) and value:
        for place, part in enumerate(itertools.islice(value, PARTS)) if len(value) <= PARTS else ():
            if is_array(part):
                yield from of_array(held, part, place, fewest)
        for key in fields(value[0]) if len(value) > fewest else ():
            yield StoredColumn(held, value if isinstance(value, list) else list(value), key)


def of_array(held: Held, value: Any, part: Any, fewest: int) -> Iterator[StoredColumn]:
    """Yield an array of enough rows, else the larger one whose rows it holds."""
    if value.ndim and value.shape[0] > fewest:
        yield StoredColumn(held, value, part=part)
    elif value.ndim and (whole := whole_of(value)) is not None and whole.shape[0] > fewest:
        yield StoredColumn(held, whole, part=part, cut=True)


def whole_of(value: Any) -> Any:
    """The array that an array is a view of, in rows of its columns; None where there is none."""
    base: Any = value._base if isinstance(value, Tensor) else value.base
    if not isinstance(base, (Tensor, np.ndarray)):
        return None
    contiguous = base.is_contiguous() if isinstance(base, Tensor) else base.flags.c_contiguous
    inner = tuple(value.shape[1:])
    width = math.prod(inner)
    fits = contiguous and base.dtype == value.dtype and width and math.prod(base.shape) % width == 0
    return base.reshape(-1, *inner) if fits else None


def fields(record: Any) -> list[Any]:
    """The keys of a record's parts that are numbers or rows of numbers; None for a record that is one itself."""
    if is_row(record):
        return [None]
    inside: Iterable[tuple[Any, Any]] = record.items() if isinstance(record, dict) else ()
    if isinstance(record, (tuple, list)):
        inside = enumerate(record)
    return [key for key, part in itertools.islice(inside, PARTS) if is_row(part)]


def is_row(value: Any) -> bool:
    """Whether a value is a number, or a row of them."""
    if isinstance(value, (Tensor, np.ndarray)):
        return is_array(value) or getattr(value, "size", 0) == 1
    if isinstance(value, (list, tuple)):
        return len(value) > 1 and all(isinstance(one, NUMBERS) for one in value[:PARTS])
    return isinstance(value, (*NUMBERS, np.number))


def listed(rows: Sequence[Any]) -> Tensor | None:
    """A list of rows of one length as a tensor."""
    try:
        width = len(rows[0]) if hasattr(rows[0], "__len__") else 1
        if len(rows) * width > MOST_LISTED:
            return None
        if isinstance(rows[0], Tensor):
            return torch.stack([one.detach() for one in rows])
        table = np.array(rows)
    except (TypeError, ValueError, RuntimeError, KeyError, IndexError):
        return None
    return torch.from_numpy(table) if table.dtype.kind in "fiub" and table.ndim else None
