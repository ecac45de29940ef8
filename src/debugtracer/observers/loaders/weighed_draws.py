"""Reads the weights of a WeightedRandomSampler, and counts which labels the first batches bring with each."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.utils.data import WeightedRandomSampler

from debugtracer.callsites.origins.argument_origin import argument_origin
from debugtracer.callsites.origins.value_origin import made_first
from debugtracer.errors import guarded
from debugtracer.observers.loaders.loader_history import LoaderHistories
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer
from debugtracer.recorder.tape.batches import Batch, LoaderInfo
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.draw_weights import DrawWeights

LOADERS = 8  # whose samplers are read (ours)
LONGEST = 2_000_000  # weights of a sampler (ours: sorting them takes a tenth of a second)
GROUPS = 64  # different weights (ours: more than that are no weights of classes)
BATCHES = 16  # counted of a loader (ours)
LEAVES = 8  # tensors of a batch that can be its labels (ours)


class WeighedLoader:
    """One loader whose sampler has weights, and what was drawn by it."""

    def __init__(self, info: LoaderInfo, number: int, weights: Tensor) -> None:
        self.info, self.number = info, number
        values, groups, sizes = torch.unique(weights.detach().cpu().double(), return_inverse=True, return_counts=True)
        self.values, self.sizes, self.groups = values.tolist(), sizes.tolist(), groups
        self.drawn: dict[str, dict[tuple[int, int], int]] = {}
        """By path of a tensor: how often a label came with a weight."""
        self.batches = 0

    def add(self, batch: Batch) -> None:
        """Count the labels of one batch."""
        self.batches += 1
        indices = [i for i in batch.indices or () if 0 <= i < len(self.groups)]
        if len(indices) != len(batch.indices or ()):
            return
        for path, leaf in batch.tensors()[:LEAVES]:
            if leaf.device.type != "cpu" or leaf.layout is not torch.strided or len(leaf) != len(indices):
                continue
            if is_label(leaf):
                seen = self.drawn.setdefault(path, {})
                for group, label in zip(self.groups[indices].tolist(), leaf.flatten().tolist(), strict=True):
                    seen[group, int(label)] = seen.get((group, int(label)), 0) + 1

    def labels(self) -> tuple[tuple[int, ...], tuple[tuple[int, ...], ...]]:
        """The labels and their counts for each weight, of the tensor that fits the weights best."""
        tables = [table_of(seen, len(self.values)) for seen in self.drawn.values()]
        known = [one for one in tables if 1 < len(one[0]) <= GROUPS]
        return max(known, key=lambda one: purity(one[1]), default=((), ()))


class WeighedDrawsObserver(Observer):
    """Reads a sampler when its loader is iterated for the first time, and the labels of its first batches."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.reset()
        run.unsubscribe(self.fetched)

    def reset(self) -> None:
        self.histories = LoaderHistories()
        self.asked: set[int] = set()
        self.open: list[WeighedLoader] = []

    def loader_iterated(self, info: LoaderInfo, iterator: Any) -> None:
        """Read the weights of a loader that is new."""
        sampler = weighted_sampler(info.loader())
        if type(sampler) is not WeightedRandomSampler:
            return  # a class of the program's own draws as it likes
        number = self.histories.of(info).note.number
        weights = sampler.weights
        if number in self.asked or len(self.asked) >= LOADERS or not isinstance(weights, Tensor):
            return
        self.asked.add(number)
        if weights.dim() == 1 and 1 < len(weights) <= LONGEST:
            one = WeighedLoader(info, number, weights)
            if 1 < len(one.values) <= GROUPS:
                self.open.append(one)
                self.run.subscribe(self.fetched)

    def fetched(self, batch: Batch, data: Any) -> None:
        """Count the labels of a batch; emit after a few."""
        for one in [held for held in self.open if held.info is batch.loader]:
            one.add(batch)
            if one.batches >= BATCHES:
                self.emit(one)
        if not self.open:
            self.run.unsubscribe(self.fetched)

    def ended(self) -> None:
        """Emit what was counted of short runs."""
        for one in list(self.open):
            self.emit(one)

    def emit(self, one: WeighedLoader) -> None:
        """Write down one sampler."""
        self.open.remove(one)
        labels, drawn = one.labels()
        frame, made = guarded("weighed_draws.made")(lines_of)(one.info.frame) or (one.info.frame, ())
        self.run.emit(
            DrawWeights(
                ref=self.run.ref("load"), loader=one.number, weights=tuple(one.values), sizes=tuple(one.sizes),
                dataset=one.info.dataset, labels=labels, drawn=drawn,
                frame=frame, made=made,
            )
        )  # fmt: skip


def weighted_sampler(loader: Any) -> WeightedRandomSampler | None:
    """The sampler with weights that a loader draws from, also below one that makes batches."""
    outer = getattr(loader, "batch_sampler", None)
    found = (getattr(outer, "sampler", None), getattr(loader, "sampler", None))
    return next((one for one in found if isinstance(one, WeightedRandomSampler)), None)


def is_label(leaf: Tensor) -> bool:
    """Whether a tensor has one whole number for each row."""
    if leaf.dim() == 0 or leaf.numel() != len(leaf) or leaf.dtype.is_complex:
        return False
    return not leaf.is_floating_point() or bool((leaf == leaf.round()).all())


def table_of(seen: dict[tuple[int, int], int], groups: int) -> tuple[tuple[int, ...], tuple[tuple[int, ...], ...]]:
    """The labels, and for each weight how often each of them came with it."""
    labels = tuple(sorted({label for _, label in seen}))
    return labels, tuple(tuple(seen.get((group, label), 0) for label in labels) for group in range(groups))


def purity(drawn: tuple[tuple[int, ...], ...]) -> float:
    """The share of the rows whose label comes with one weight."""
    columns = list(zip(*drawn, strict=True))
    return float(sum(max(column) for column in columns) / max(1, sum(map(sum, columns))))


def lines_of(built: Frame | None) -> tuple[Frame | None, tuple[Frame, ...]]:
    """The line that builds the sampler of a loader, and those that wrote its weights."""
    if built is None:
        return None, ()
    ways = argument_origin((built,), ("DataLoader",), "sampler", 3)
    called = [link.frame for link in ways if "WeightedRandomSampler(" in link.frame.code]
    frame = called[0] if called else built
    links = argument_origin((frame,), ("WeightedRandomSampler",), "weights", 0)
    return frame, made_first(links)
