"""Looks once at what a collate function that sorts has put together: which sample is each row of each tensor?"""

from __future__ import annotations

import copy
from time import perf_counter
from typing import Any

import torch
from torch import Tensor

from debugtracer.callsites.row_order import order_line
from debugtracer.observers.data.digest import readable
from debugtracer.observers.loaders.mirrored_inputs import owner_of
from debugtracer.observers.loaders.sample_maker import maker_of
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer
from debugtracer.recorder.state.identity import ById
from debugtracer.recorder.state.leaves import leaves_of
from debugtracer.recorder.tape.batches import Batch
from debugtracer.trace.facts.collated_rows import CollatedRows

LOOKS = 2  # batches of a dataset that are fetched again (ours)
MOST = 256  # samples of a batch that are (ours)
SECONDS = 0.5  # that it may take (ours)
FEWEST = 2  # rows that hold two samples (ours)
SHOWN = 4

Leaves = dict[str, Tensor]


class CollatedRowsObserver(Observer):
    """Runs the dataset and the collate function once more on copies of the samples, in the first batches alone, and
    only where that function sorts or shuffles something."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.looks: ById[Any, int] = ById()
        """Datasets: how often they may still be looked at."""

    def reset(self) -> None:
        self.looks.clear()

    def loader_iterated(self, info: Any, iterator: Any) -> None:
        """Listen again: the loader may be new."""
        if self.fetched in self.run.unwanted:
            self.run.subscribe(self.fetched)

    def fetched(self, batch: Batch, data: Any) -> None:
        """Fetch the samples of a first batch again, one by one."""
        owner = owner_of(batch)
        left = 0 if owner is None or batch.loader.keeps_order else self.looks.get(owner, LOOKS)
        if left:
            self.looks[owner] = left - 1 if self.look(owner, batch, data) else 0
        elif all(not one for one in self.looks.values()):
            self.run.unsubscribe(self.fetched)

    def look(self, owner: Any, batch: Batch, data: Any) -> bool:
        """Emit two tensors whose rows are different samples; whether another batch may tell more."""
        maker = maker_of(batch.loader)
        if maker is None:
            return False
        indices = batch.indices or ()
        held = rows_in(data, len(indices))
        if not FEWEST < len(indices) <= MOST or len(held) < 2:
            return False
        try:
            with maker.unchanged(self.run):
                made = fetched_alone(maker.dataset, maker.collate, indices, len(indices))
        except (Exception, SystemExit):
            return False  # the user's code; it may need what only a worker has
        if made is None:
            return False
        alone, again = made
        found = samples_of_rows(held, alone, again)
        if found is None:
            return True
        for path, other, apart in pairs_apart(found):
            first = tuple((indices[found[path][r][0]], indices[found[other][r][0]]) for r in apart[:SHOWN])
            frame = order_line(maker.collate)
            self.run.emit(
                CollatedRows(
                    ref=self.run.ref("load"), loader=list(self.looks).index(owner) if owner in self.looks else 0,
                    path=path, other=other, rows=len(indices), apart=len(apart), first=first, frame=frame,
                    loader_frame=batch.loader.frame,
                )
            )  # fmt: skip
            return False
        return False


def rows_in(data: Any, rows: int) -> Leaves:
    """The tensors of a batch with one row of each sample, and lists of numbers as such."""
    found = {path: leaf for path, leaf in leaves_of(data) if leaf.dim() and leaf.shape[0] == rows and readable(leaf)}
    named = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, (list, tuple)) else ()
    for name, value in named:
        plain = isinstance(value, (list, tuple)) and len(value) == rows
        if plain and all(isinstance(one, (int, float)) for one in value):
            found[f"batch[{name!r}]"] = torch.tensor(value, device="cpu")
    return {path: leaf.detach() for path, leaf in found.items()}


def fetched_alone(
    dataset: Any, collate: Any, indices: tuple[int, ...], rows: int
) -> tuple[list[Leaves], Leaves] | None:
    """Make each sample a batch of one, and all of them one batch; None where that takes long. Raises what the user's
    code raises."""
    began, samples = perf_counter(), []
    for index in indices:
        samples.append(dataset[index])
        if perf_counter() - began > SECONDS * len(samples) / rows + SECONDS / 4:
            return None
    alone = [rows_in(collate([copy.deepcopy(sample)]), 1) for sample in samples]
    return alone, rows_in(collate(copy.deepcopy(samples)), rows)


def samples_of_rows(held: Leaves, alone: list[Leaves], again: Leaves) -> dict[str, list[list[int]]] | None:
    """The samples that each row of each tensor may be. None where a row of any is no sample: its values are drawn
    anew, or tell which rows were put together on purpose; or where the same samples make another batch each time."""
    if any(path not in again or not same(leaf, again[path]) for path, leaf in held.items()):
        return None
    found: dict[str, list[list[int]]] = {}
    for path, leaf in held.items():
        parts = [one[path][0] for one in alone if path in one]
        if len(parts) != len(alone):
            return None
        found[path] = [[n for n, part in enumerate(parts) if begins(row, part)] for row in leaf]
        if not all(found[path]):
            return None
    twice = {p for p in found for q in found if p != q and all(same(one[p], one[q]) for one in alone)}
    return {path: rows for path, rows in found.items() if path not in twice}


def pairs_apart(found: dict[str, list[list[int]]]) -> list[tuple[str, str, list[int]]]:
    """Find two tensors with rows that cannot be of one sample, the one in the loader's order last; and those rows."""
    moved = {path: sum(row not in fits for row, fits in enumerate(rows)) for path, rows in found.items()}
    told = []
    for path in sorted(found, key=lambda one: -moved[one]):
        for other in sorted(found, key=lambda one: moved[one]):
            apart = [r for r, (a, b) in enumerate(zip(found[path], found[other], strict=True)) if not {*a} & {*b}]
            if path != other and len(apart) >= FEWEST:
                told.append((path, other, apart))
    return told


def begins(row: Tensor, part: Tensor) -> bool:
    """Whether a row holds a sample, and one number behind it everywhere."""
    if row.dim() != part.dim() or row.dtype != part.dtype:
        return False
    if any(a < b for a, b in zip(row.shape, part.shape, strict=True)):
        return False
    inside = tuple(slice(0, size) for size in part.shape)
    if not same(row[inside], part):
        return False
    rest = torch.ones(row.shape, dtype=torch.bool, device="cpu")
    rest[inside] = False
    filled = row[rest]
    return filled.numel() == 0 or same(filled, filled[:1].expand_as(filled))


def same(a: Tensor, b: Tensor) -> bool:
    """Whether two tensors hold the same numbers; NaN is one."""
    return a.shape == b.shape and bool(((a == b) | ((a != a) & (b != b))).all())
