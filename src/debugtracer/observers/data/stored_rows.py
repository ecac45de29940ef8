"""Asks in inspected steps of a program without a DataLoader which rows of which stored arrays its model is given, and
looks at those arrays once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from types import CodeType
from typing import Any

import msgspec
import torch
from torch import Tensor, nn

from debugtracer.callsites.frames import frames_of, raw_frames
from debugtracer.callsites.origins.value_origin import made_first, origin
from debugtracer.callsites.stored_entries import reachable
from debugtracer.errors import guarded
from debugtracer.observers.data.batch_facts import first_layer
from debugtracer.observers.data.digest import digest
from debugtracer.observers.data.own_batches import OwnBatch
from debugtracer.observers.data.stored_summary import stored_leaf
from debugtracer.observers.loss.followed_rows import FollowedRows
from debugtracer.observers.loss.loss_function import arguments
from debugtracer.observers.model.shadow_model import is_dense
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected
from debugtracer.recorder.state.weak import WeakRef
from debugtracer.recorder.tape.entry import tensors
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.loss_call import BINARY, ELEMENTWISE, INDEXED
from debugtracer.trace.facts.stored_rows import StoredLeaf, StoredRows

LOSSES = INDEXED | BINARY | ELEMENTWISE
MOST_GIVEN = 8  # tensors of one step (ours)
LOOKS = 2  # that must meet the same data before anything is told (ours: buffers that grow are no data set)
MOST_LOOKS = 6  # steps that are looked at (ours: the first three, and those of steps 100, 200 and 300)
Known = tuple[tuple[str, str, int | None, int], ...]
"""Path, name, digest and length of each array."""


class StoredRowsObserver(Observer):
    """Nothing of it is called in other steps, nor once a DataLoader has delivered a batch."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.reset()

    def reset(self) -> None:
        self.rows = FollowedRows()
        self.given: list[tuple[str, WeakRef[Tensor]]] = []
        self.target_of_classes = False
        self.call: Frame | None = None
        self.layer = ""
        self.known: Known = ()
        self.seen: list[OwnBatch] = []
        """The batches of the same data that were met."""
        self.begun: list[tuple[int, int]] = []
        """The step of each, and its first row."""
        self.leaves: tuple[StoredLeaf, ...] = ()
        self.anew = True
        """No tensor of one look was given again in the next."""
        self.before: WeakRef[Tensor] | None = None
        self.cut: Frame | None = None
        """The line that took the rows, as the source says."""
        self.looks = 0

    def missed(self) -> None:
        """Let go of a step that was not seen to its end."""
        self.forget()

    def forget(self) -> None:
        """Let go of the step in flight."""
        self.rows.clear()
        self.given, self.target_of_classes, self.call, self.layer = [], False, None, ""

    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Follow rows that are taken by index, and note the target of a loss."""
        name = getattr(function, "__name__", "")
        self.rows.called(name, args, kwargs, output)
        if name in LOSSES and torch.is_grad_enabled():
            self.target_of_classes |= name in INDEXED
            self.note("target", arguments(name, args, kwargs)["target"])

    @inspected
    def left(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note what a model in training is given."""
        if not (torch.is_grad_enabled() and module.training and any(True for _ in module.parameters())):
            return
        for value in tensors([list(args), kwargs]):
            self.note("input", value)
        self.call, self.layer = self.call or self.run.here(), self.layer or first_layer(module)

    def note(self, path: str, value: Any) -> None:
        """Keep a tensor without a graph until the backward, weakly."""
        plain = isinstance(value, Tensor) and not value.requires_grad and is_dense(value) and value.dim()
        if not plain or len(self.given) >= MOST_GIVEN or any(kept() is value for _, kept in self.given):
            return
        count = sum(kept.split("[")[0] == path for kept, _ in self.given)
        self.given.append((f"{path}[{count}]" if count else path, WeakRef(value)))

    @inspected
    def backward_begins(self, losses: list[Tensor]) -> None:
        """Find the rows of the step."""
        given = [(path, value) for path, kept in self.given if (value := kept()) is not None]
        call, layer, rows, classes = self.call, self.layer, self.rows, self.target_of_classes
        self.looks += 1
        if call is not None and self.run.batches.last() is None:
            found = self.run.own_batches.found(given, rows)
            if found is not None:
                self.learn(found, call, layer, classes, [value for _, value in given])
        self.forget()
        if self.looks >= MOST_LOOKS or self.run.batches.last() is not None:
            self.run.unsubscribe(self.called, self.left, self.backward_begins)

    def learn(self, batch: OwnBatch, call: Frame, layer: str, classes: bool, given: list[Tensor]) -> None:
        """Compare with the looks before; tell what the arrays are like once they are known to stay."""
        known = tuple((one.path, one.name, digest(one.store), len(one.store)) for one in batch.leaves)
        if known != self.known:
            self.known, self.seen, self.begun, self.leaves, self.cut = known, [], [], (), None
            self.anew, self.before = True, None
        self.seen.append(batch)
        self.begun.append((self.run.step, batch.rows[0]))
        self.anew &= self.before is None or not any(self.before() is one for one in given)
        self.before = WeakRef(given[0])
        if len(self.seen) < LOOKS:
            return
        with torch.no_grad():
            self.leaves = self.leaves or tuple(summaries(batch, classes))
        self.cut = self.cut or guarded("observers.data.stored_rows")(cut_at)(given)
        fact = StoredRows(
            ref=self.run.ref("load"), length=batch.length, rows=len(batch.rows), looks=len(self.seen),
            in_order=all(one.in_order for one in self.seen),
            same=self.anew and all(one.rows == batch.rows for one in self.seen), begins=batch.rows[0],
            period=self.period(batch), first_layer=layer, frame=batch.frame or self.cut or call, call=call,
            leaves=self.leaves,
        )  # fmt: skip
        self.run.own_batches.know(fact)
        self.run.emit(fact)
        self.seen = [replace(one, leaves=()) for one in self.seen]

    def period(self, batch: OwnBatch) -> int:
        """The batches of a pass that fit all looks at passes in order; 0 where none do."""
        count = len(batch.rows)
        if len(self.begun) <= LOOKS or not all(one.in_order for one in self.seen):
            return 0
        lags = {row // count - step if row % count == 0 else None for step, row in self.begun}
        known = {lag for lag in lags if lag is not None}
        for period in (-(-batch.length // count), batch.length // count):
            if len(known) == len(lags) and len({lag % period for lag in known}) == 1:
                return period
        return 0


def summaries(batch: OwnBatch, classes: bool) -> Iterator[StoredLeaf]:
    """Summarise each array of a batch, with the lines that made it."""
    stack = frames_of(raw_frames(1))
    for one in batch.leaves:
        labels = classes and one.path.startswith("target")
        leaf = stored_leaf(one.path, one.name, one.store, len(batch.rows), labels)
        made = guarded("observers.data.stored_rows")(one.column.made)(stack) if one.column is not None else ()
        yield msgspec.structs.replace(leaf, made=made or ())


def cut_at(given: list[Tensor]) -> Frame | None:
    """The line that cut a tensor of a step, followed through the source from the name that holds it now."""
    stack = frames_of(raw_frames(1))
    for name, at in names_of(given):
        runs = [n for n, frame in enumerate(stack) if frame.function == at]
        lines = made_first(origin(name, stack[runs[0] :]), cut=True) if runs else ()
        if lines:
            return lines[0]
    return None


def names_of(given: list[Tensor]) -> Iterator[tuple[str, str]]:
    """Yield the names that the user's running functions have for some tensors, or for a tuple of them, each with the
    name of its function."""
    for held in reachable():
        inside = held.value if isinstance(held.value, (tuple, list)) and len(held.value) <= MOST_GIVEN else ()
        is_given = any(one is part for part in (held.value, *inside) for one in given)
        if is_given and isinstance(held.owner, CodeType):
            yield held.name, held.owner.co_name
