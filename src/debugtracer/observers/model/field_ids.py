"""Counts how far the columns of ids go that a model looks up in one table."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn

from debugtracer.callsites.frames import RawFrames, frames_of, raw_frames
from debugtracer.callsites.origins.added_origin import added_origin
from debugtracer.errors import guarded
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected, of_functions
from debugtracer.recorder.state.identity import ById
from debugtracer.recorder.state.weak import WeakRef
from debugtracer.recorder.tape.entry import tensors
from debugtracer.trace.facts.field_ids import FieldIds

COLUMNS = 256  # of one table at most (ours)
FIRST = 8  # training calls after which one vocabulary for all columns is known by its ids (ours)
CALLS, MOST_CALLS = 64, 512  # training calls that are counted, and where large fields need more (ours)
ENOUGH = 4  # rows of ids for each id of the largest column (ours: fewer may not show how far it goes)
IDS = (torch.int64, torch.int32)


class Lookup:
    """A table with the ids that were looked up in it."""

    def __init__(self, weight: Tensor, ids: Tensor, raw: RawFrames) -> None:
        self.weight: Callable[[], Tensor | None] = WeakRef(weight)
        self.ids: Tensor | None = ids
        self.raw = raw
        self.offsets: tuple[int, ...] = ()
        """What was added to each column of the ids that the model was given; empty for nothing."""


class ColumnRange:
    """How far each column went; the numbers stay on their device until they are asked for."""

    def __init__(self, ids: Tensor, tables: list[Lookup]) -> None:
        self.low, self.high = ids.amin(0), ids.amax(0)
        self.rows, self.calls, self.tables = len(ids), 1, tables

    def add(self, ids: Tensor) -> None:
        """Count the ids of one call."""
        self.low, self.high = torch.minimum(self.low, ids.amin(0)), torch.maximum(self.high, ids.amax(0))
        self.rows, self.calls = self.rows + len(ids), self.calls + 1


class FieldIdsObserver(Observer):
    """Two small reductions a call while a model with columns of ids is new; hears nothing more without one."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.looked_up: list[Lookup] = []
        self.roots: ById[nn.Module, ColumnRange | None] = ById()
        """Models; None for one that is decided."""

    def install(self) -> None:
        """Leave calls of models alone until columns of ids were looked up."""
        self.run.unsubscribe(self.left)

    def reset(self) -> None:
        self.looked_up.clear()
        self.roots.clear()
        self.run.unsubscribe(self.left)

    @of_functions({"embedding"})
    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note a look-up of columns of ids."""
        if getattr(function, "__name__", "") != "embedding" or len(args) < 2 or not torch.is_grad_enabled():
            return
        ids, weight = args[:2]
        if isinstance(ids, Tensor) and are_columns(ids) and isinstance(weight, nn.Parameter) and weight.dim() == 2:
            self.looked_up.append(Lookup(weight, ids.detach(), raw_frames(1)))
            if self.left in self.run.unwanted and not self.roots:
                self.run.subscribe(self.left)

    def left(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Count the ids of a training call; learn, the first time, which tables they go into as they are."""
        looked_up, self.looked_up = self.looked_up, []
        known = self.roots.get(module)
        if not torch.is_grad_enabled() or not module.training or (known is None and module in self.roots):
            return
        ids = next((t for t in tensors([list(args), kwargs]) if are_columns(t)), None)
        if known is not None:
            if ids is not None and ids.shape[1:] == known.high.shape and ids.device == known.high.device:
                known.add(ids.detach())
                self.look(module, known)
            return
        given = [] if ids is None else [one for one in looked_up if goes_into(ids, one)]
        if ids is not None and given:
            self.roots[module] = ColumnRange(ids.detach(), given)

    @inspected
    def backward_begins(self, losses: list[Tensor]) -> None:
        """Let the ids of the step go; hear no more calls where no model was given them."""
        self.looked_up.clear()
        if not self.roots and self.left not in self.run.unwanted:
            self.run.unsubscribe(self.left)

    def look(self, module: nn.Module, known: ColumnRange) -> None:
        """Leave one vocabulary for all columns; decide about others once enough was counted. Waits for a device
        there."""
        if known.calls == FIRST and not self.may_be_fields(known):
            self.leave(module)
        elif (known.calls == CALLS and self.is_enough(known)) or known.calls == MOST_CALLS:
            self.decide(module, known)

    def ended(self) -> None:
        """Decide what is open."""
        for module, known in list(self.roots.items()):
            if known is not None:
                self.decide(module, known)

    def is_enough(self, known: ColumnRange) -> bool:
        """Whether there were rows enough to see how far the largest column goes."""
        return known.rows >= ENOUGH * (int(known.high.max()) + 1)

    def may_be_fields(self, known: ColumnRange) -> bool:
        """Whether a table has rows for all columns, one after the other, and two of them share some so far; the others
        are forgotten."""
        together = int((known.high + 1).sum())
        known.tables = [
            one
            for one in known.tables
            if (weight := one.weight()) is not None and together <= len(weight) and overlap(known, one.offsets)
        ]
        return bool(known.tables)

    def leave(self, module: nn.Module) -> None:
        """Count the ids of a model no longer."""
        self.roots[module] = None
        if all(one is None for one in self.roots.values()):
            self.run.unsubscribe(self.left)

    def decide(self, module: nn.Module, known: ColumnRange) -> None:
        """Emit a fact for each table."""
        self.leave(module)
        if not self.is_enough(known):
            return
        names = self.run.names()
        for one in known.tables:
            weight, frames = one.weight(), frames_of(one.raw)
            if weight is None:
                continue
            table = names.get(id(weight), "").removesuffix(".weight")
            known_as = table.rpartition(".")[2]
            made = guarded("field_ids.made")(added_origin)(frames, known_as, "input") if one.offsets else None
            self.run.emit(
                FieldIds(
                    ref=self.run.ref("forward", self.run.iteration - 1), root=type(module).__name__,
                    table=table, size=len(weight),
                    fields=tuple(high + 1 for high in known.high.tolist()), least=int(known.low.max()),
                    rows=known.rows, frame=frames[0] if frames else None, offsets=one.offsets, made=made,
                )
            )  # fmt: skip


def are_columns(ids: Tensor) -> bool:
    """Whether a tensor can be rows of a few columns of ids. Reads no value."""
    return (
        ids.dtype in IDS
        and type(ids) is Tensor
        and ids.layout is torch.strided
        and not ids.is_nested
        and ids.device.type != "meta"
        and ids.dim() == 2
        and 2 <= ids.shape[1] <= COLUMNS
        and ids.shape[0] > 0
    )


def goes_into(ids: Tensor, one: Lookup) -> bool:
    """Whether what was looked up is what the model was given, each column moved by one number. Lets the ids go."""
    rows, one.ids = one.ids, None
    if rows is None or rows.shape != ids.shape or rows.device != ids.device:
        return False
    offsets = rows[0] - ids[0]
    if not same(rows, ids + offsets):
        return False
    one.offsets = tuple(offsets.tolist()) if bool(offsets.any()) else ()
    return True


def overlap(known: ColumnRange, offsets: tuple[int, ...]) -> bool:
    """Whether the rows of two columns meet, as far as was seen."""
    low, high = known.low.tolist(), known.high.tolist()
    ranges = sorted((a + add, b + add) for a, b, add in zip(low, high, offsets or (0,) * len(low), strict=True))
    return any(before[1] >= after[0] for before, after in pairwise(ranges))


def same(ids: Tensor, given: Tensor) -> bool:
    """Whether what was looked up is what the model was given."""
    return ids is given or (ids.shape == given.shape and ids.device == given.device and bool((ids == given).all()))
