"""Compares the tables of names and ids that datasets of training and of evaluations hold, where a model reads ids."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn

from debugtracer.callsites.construction import is_user_file
from debugtracer.callsites.origins.argument_origin import argument_origin
from debugtracer.errors import guarded
from debugtracer.observers.loaders.untouched import inner
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer
from debugtracer.recorder.tape.batches import LoaderInfo
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.other_numbers import OtherNumbers

MOST = 8  # loaders that are compared (ours)
DEEP = 3  # objects on the way from a dataset to a table (ours)
LONGEST = 1_000_000  # names of a table that is read (ours)
GAPS = 16  # ids without a name, up to which a table numbers its names (ours)
SHARE = 0.1  # of the names in both, from which another id is told (ours)

Table = dict[str, int]


class NumberedLoader:
    """One loader, and whether a backward came while it was the last one that was begun."""

    def __init__(self, info: LoaderInfo, dataset: Any) -> None:
        self.info, self.frame, self.dataset = weakref.ref(info), info.frame, weakref.ref(dataset)
        self.trains = False
        self.compared = False
        self.found: list[OtherNumbers] = []
        self.asked = False
        """A layer with weights was given ids while this loader was the last one that was begun."""


class NumberedNamesObserver(Observer):
    """Reads attributes of datasets when a loader begins for the first time; no sample is fetched."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.loaders: list[NumberedLoader] = []
        self.last: NumberedLoader | None = None
        run.unsubscribe(self.left)

    def reset(self) -> None:
        self.loaders.clear()
        self.last = None

    def loader_iterated(self, info: LoaderInfo, iterator: Any) -> None:
        """Note a loader; compare its dataset with those that were trained on."""
        dataset = inner(getattr(info.loader(), "dataset", None))
        one = next((known for known in self.loaders if known.dataset() is dataset), None)
        if one is None and dataset is not None and len(self.loaders) < MOST:
            try:
                one = NumberedLoader(info, dataset)
            except TypeError:
                return  # a list: it holds no table
            self.loaders.append(one)
        self.last = one
        if one is None or one.trains:
            return
        self.run.subscribe(self.backward_begins)
        if not one.compared and any(other.trains for other in self.loaders):
            one.compared = True
            one.found = [fact for other in self.loaders if other.trains for fact in self.compare(other, one)]
        if one.found and not one.asked:
            self.run.subscribe(self.left)

    def left(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note that a layer was given ids in an evaluation; what compares ids among themselves has no weights."""
        if self.last is None or not self.last.found or next(iter(module.parameters()), None) is None:
            return
        if any(isinstance(value, Tensor) and is_ids(value) for value in (*args, *kwargs.values())):
            self.last.asked = True
            self.run.unsubscribe(self.left)

    def backward_begins(self, losses: list[Tensor]) -> None:
        """Note that the loader that was begun last is trained on."""
        if self.last is not None:
            self.last.trains = True
        self.run.unsubscribe(self.backward_begins)

    def ended(self) -> None:
        """Emit what was found of datasets that nothing was trained on."""
        for one in self.loaders:
            for fact in one.found if one.asked and not one.trains else ():
                self.run.emit(fact)

    def compare(self, trained: NumberedLoader, other: NumberedLoader) -> Iterator[OtherNumbers]:
        """Yield each table of both that gives names another id."""
        ours, theirs = trained.dataset(), other.dataset()
        if ours is None or theirs is None:
            return
        known, asked = dict(tables(ours)), dict(tables(theirs))
        for attribute, table in asked.items():
            own = known.get(attribute)
            if own is None or own is table or len(own) == length(ours) or len(table) == length(theirs):
                continue  # each sample has a name of its own
            if not numbers(own) or not numbers(table):
                continue
            common = [name for name in own if name in table]
            moved = [name for name in common if own[name] != table[name]]
            if len(moved) > 1 and len(moved) >= SHARE * len(common):
                yield OtherNumbers(
                    ref=self.run.ref("load"), attribute=attribute, dataset=type(theirs).__name__, common=len(common),
                    differ=len(moved), name=moved[0], trained=own[moved[0]], evaluated=table[moved[0]],
                    frame=made_apart(trained.frame, other.frame), loader=other.frame,
                )  # fmt: skip


def tables(holder: Any, path: str = "", deep: int = DEEP) -> Iterator[tuple[str, Table]]:
    """The tables that an object of the program holds, and those of its parts, with where they are."""
    for name, value in list(getattr(holder, "__dict__", {}).items()):
        if isinstance(value, dict):
            if looks_numbered(value):
                yield path + name, value
        elif deep > 1 and is_own(type(value)):
            yield from tables(value, f"{path}{name}.", deep - 1)


def is_own(kind: type) -> bool:
    """Whether a class is one of the program's."""
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    return file is not None and is_user_file(file)


def looks_numbered(table: dict[Any, Any]) -> bool:
    """Whether the first entries are names with ids."""
    if not 1 < len(table) <= LONGEST:
        return False
    first = [pair for pair, _ in zip(table.items(), range(4), strict=False)]
    return all(type(key) is str and type(value) is int and value >= 0 for key, value in first)


def numbers(table: Table) -> bool:
    """Whether the names are numbered: each with an id of its own, and hardly an id without a name."""
    ids = table.values()
    return (
        all(type(one) is int for one in ids)
        and len(set(ids)) == len(table)
        and min(ids) >= 0
        and max(ids) < len(table) + GAPS
    )


def is_ids(value: Tensor) -> bool:
    """Whether a tensor can hold ids of names."""
    return not (value.is_floating_point() or value.is_complex() or value.dtype is torch.bool) and value.dim() > 0


def length(dataset: Any) -> int:
    """How many samples there are; -1 where nobody says."""
    try:
        return len(dataset)
    except Exception:
        return -1  # `__len__` is the user's code and may do anything


def made_apart(trained: Frame | None, other: Frame | None) -> Frame | None:
    """The line that made the other dataset and not the one of training."""
    ways = [
        [link.frame for link in guarded("numbered_names.origin")(argument_origin)((at,), ("DataLoader",), "dataset", 0)
         or ()] if at is not None else []
        for at in (trained, other)
    ]  # fmt: skip
    own = [frame for frame in ways[1] if frame not in ways[0]]
    return own[0] if own else other
