"""Follows numbers far outside of a column that come again and again in the batches of a loader."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import torch
from torch import Tensor

from debugtracer.callsites.stored_place import StoredPlace, stored_place
from debugtracer.errors import guarded
from debugtracer.observers.data.column_extremes import SAMPLES, ColumnExtremes, Repeated
from debugtracer.observers.data.summary_budget import SummaryBudget
from debugtracer.observers.data.tensor_summary import readable
from debugtracer.observers.loaders.loader_history import LoaderHistories, LoaderHistory
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, of_functions
from debugtracer.recorder.governor import Part
from debugtracer.recorder.tape.batches import Batch
from debugtracer.trace.facts.repeated_extreme import RepeatedExtreme
from debugtracer.trace.number import number

LEAVES, ELEMENTS = 8, 1 << 18  # tensors of a batch, and of one (ours)
LOOKS = 200  # batches of a run (ours)
BATCHES = 3  # that hold it (ours)
LEARNT = 20  # looks before it is emitted, and again at twice as many (ours: what the others are like is known then)
NAMED = 256  # dataset indices emitted (ours)
STEPS = 64  # that are remembered of a number (ours)
COMPARED = 64  # numbers that the program compares with (ours)
COMPARES = frozenset(
    {
        *("eq", "__eq__", "ne", "__ne__", "lt", "__lt__", "le", "__le__", "gt", "__gt__", "ge", "__ge__"),
        *("clamp", "clamp_", "clip", "clip_", "clamp_min", "clamp_max", "isclose"),
    }
)


class RepeatedExtremesObserver(Observer):
    """CPU tensors of the first batches only, within a budget of its own."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.reset()

    def reset(self) -> None:
        self.histories, self.budget, self.looks = LoaderHistories(), SummaryBudget(), 0
        self.known: dict[tuple[int, str], ColumnExtremes] = {}
        """By loader and path."""
        self.compared: set[tuple[float, str]] = set()
        """Numbers that the program compares with, and the path of the tensor of a batch that it asks."""
        self.places: dict[tuple[int, float], StoredPlace | None] = {}
        """Where numbers stand in the arrays of a dataset, by loader and value."""

    @of_functions(COMPARES)
    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note what tensors are compared with: a program may know its codes."""
        if getattr(function, "__name__", "") not in COMPARES or len(self.compared) >= COMPARED or not args:
            return
        asked = args[0] if isinstance(args[0], Tensor) else None
        hit = self.run.batches.find(asked) if asked is not None else None
        for value in (*args[1:], *kwargs.values()):
            if isinstance(value, Tensor) and value.numel() == 1 and value.device.type == "cpu":
                value = value.item()
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                self.compared.add((float(value), hit[1] if hit is not None else ""))

    def fetched(self, batch: Batch, data: Any) -> None:
        """Look at the columns while that is affordable."""
        if self.looks >= LOOKS:
            self.run.unsubscribe(self.fetched, self.called)
        elif self.run.affords(Part.SUMMARIES) and self.budget.open():
            self.looks += 1
            begin = perf_counter()
            with torch.no_grad(), torch._C.DisableTorchFunctionSubclass():
                self.look(self.histories.of(batch.loader), batch)
            self.budget.spend(perf_counter() - begin)

    def look(self, history: LoaderHistory, batch: Batch) -> None:
        """Learn the floating tensors of one batch, tables and sequences."""
        leaves = [(path, leaf) for path, leaf in batch.tensors()[:LEAVES] if readable(leaf)]
        for path, leaf in leaves:
            plain = leaf.detach() if type(leaf) is Tensor else leaf.as_subclass(Tensor).detach()
            if not plain.is_floating_point() or not 1 <= plain.dim() <= 3 or plain.numel() > ELEMENTS:
                continue
            extremes = self.known.setdefault((history.note.number, path), ColumnExtremes())
            for one, rows in extremes.look(plain):
                if len(one.samples) < SAMPLES:
                    one.samples.update(batch.samples(rows) or ())
                one.steps = [*one.steps, self.run.step][-STEPS:]
                one.handled |= any(shows(mask, plain == one.value) for other, mask in leaves if other != path)
                if one.batches >= BATCHES and extremes.looks >= max(LEARNT, 2 * one.told):
                    self.emit(history, path, extremes, one)

    def ended(self) -> None:
        """Emit what came again since it was emitted last."""
        for history in self.histories.known.values():
            for (loader, path), extremes in self.known.items():
                for one in extremes.found.values() if loader == history.note.number else ():
                    if one.batches >= BATCHES and extremes.looks > one.told:
                        self.emit(history, path, extremes, one)

    def emit(self, history: LoaderHistory, path: str, extremes: ColumnExtremes, one: Repeated) -> None:
        """Write down what is known of one, while it is far from all others and no padding."""
        if not extremes.is_far(one) or one.padded or not one.inside:
            return
        one.told = extremes.looks
        low, high = extremes.range_of(one)
        place = self.place_of(history, one) if one.places <= 1 else None
        self.run.emit(
            RepeatedExtreme(
                ref=self.run.ref("load"),
                loader=history.note,
                path=path,
                column=one.column,
                value=number(one.value),
                low=number(low),
                high=number(high),
                rows=one.rows,
                of=extremes.rows,
                batches=one.batches,
                looked=extremes.looks,
                again=one.places > 1,
                handled=one.handled or self.is_compared(path, one.value, low, high),
                samples=tuple(sorted(one.samples)[:NAMED]),
                steps=tuple(one.steps),
                stored=place.name if place is not None else "",
                row=place.row if place is not None else None,
                record=place.record if place is not None else None,
                cell=place.cell if place is not None else "",
                made=guarded("repeated_extremes.made")(history.info.made)(path) or (),
            )
        )

    def place_of(self, history: LoaderHistory, one: Repeated) -> StoredPlace | None:
        """Where it stands in the arrays of the dataset; asked once for each number."""
        key = history.note.number, one.value
        if key not in self.places:
            find = guarded("repeated_extremes.place")(stored_place)
            self.places[key] = find(history.info.dataset_held(), one.value)
        return self.places[key]

    def is_compared(self, path: str, value: float, low: float, high: float) -> bool:
        """Whether the program compares with that number, or this tensor with one between it and the others."""
        least, most = (value, low) if value < low else (high, value)
        near = 1e-5 * abs(value)
        return any(abs(c - value) <= near or (at == path and least <= c <= most) for c, at in self.compared)


def shows(mask: Tensor, there: Tensor) -> bool:
    """Whether a tensor of zeros and ones tells these places, or the rows that have one, from all others."""
    if mask.dim() == 0 or mask.dim() > there.dim() or there.shape[: mask.dim()] != mask.shape:
        return False
    while there.dim() > mask.dim():
        there = there.any(-1)
    inside, outside = mask[there], mask[~there]
    if not inside.numel() or not outside.numel() or bool((inside != inside[0]).any()):
        return False
    return bool(((mask == 0) | (mask == 1)).all()) and bool((outside != inside[0]).double().mean() > 0.5)
