"""Exchanges one sample of a first batch at a time and collates again: does every sample reach every tensor?"""

from __future__ import annotations

import copy
from time import perf_counter
from typing import Any

from torch import Tensor
from torch.utils.data import default_collate, default_convert

from debugtracer.observers.data.digest import readable
from debugtracer.observers.loaders.collated_rows import Leaves, same
from debugtracer.observers.loaders.mirrored_inputs import owner_of
from debugtracer.observers.loaders.sample_maker import maker_of
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer
from debugtracer.recorder.state.identity import ById
from debugtracer.recorder.state.leaves import leaves_of
from debugtracer.recorder.tape.batches import Batch, LoaderInfo
from debugtracer.trace.facts.lost_samples import LostSamples

FEWEST, MOST = 4, 16  # samples of a batch that are collated again (ours)
TRIED = 5  # of them that are exchanged beside the first (ours)
VALUES = 8  # of a tensor that is asked about (ours): a size or a rate of the first sample stands for all
SECONDS = 0.5  # that it may take (ours)
PLAIN = (default_collate, default_convert)


class LostSamplesObserver(Observer):
    """Runs the dataset and the collate function once more on copies of the samples, in the first batch alone, and only
    where that function is the program's own."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.looked: ById[Any, bool] = ById()
        """Datasets whose first batch was looked at."""

    def reset(self) -> None:
        self.looked.clear()

    def loader_iterated(self, info: Any, iterator: Any) -> None:
        """Listen again: the loader may be new."""
        if self.fetched in self.run.unwanted:
            self.run.subscribe(self.fetched)

    def fetched(self, batch: Batch, data: Any) -> None:
        """Look at the first batch of each dataset."""
        owner = owner_of(batch)
        if owner is None or owner in self.looked:
            self.run.unsubscribe(self.fetched)
            return
        self.looked[owner] = True
        self.look(batch, len(self.looked) - 1)

    def look(self, batch: Batch, number: int) -> None:
        """Emit the tensors of which the first sample alone makes something."""
        maker, count = maker_of(batch.loader), len(batch.indices or ()) or size_of(batch.loader)
        if maker is None or maker.collate in PLAIN or count < FEWEST or not self.run.function_tests:
            return
        indices = batch.indices or tuple(range(count))  # any samples will do
        try:
            with maker.unchanged(self.run):
                samples = fetched_again(maker.dataset, indices[:MOST])
                reach = reached_by(maker.collate, samples) if samples else None
        except (Exception, SystemExit):
            return  # the user's code; it may need what only a worker has
        if reach is None:
            return
        held, changed = reach
        lost = lost_in(held, changed)
        if not lost:
            return
        made = batch.loader.made(lost[0])
        self.run.emit(
            LostSamples(
                ref=self.run.ref("load"), loader=number, paths=lost,
                whole=tuple(path for path in held if all(path in one for one in changed)),
                shape=tuple(held[lost[0]].shape), samples=count, tried=len(changed) - 1,
                frame=made[0] if made else None, loader_frame=batch.loader.frame,
            )
        )  # fmt: skip


def size_of(info: LoaderInfo) -> int:
    """The samples that a loader puts into a batch; 0 where nothing says so."""
    iterator: Any = info.iterator() if info.iterator is not None else None
    sampler = getattr(iterator, "_index_sampler", None)
    size = info.batch_size or getattr(sampler, "batch_size", None)
    return size if isinstance(size, int) else 0


def fetched_again(dataset: Any, indices: tuple[int, ...]) -> list[Any] | None:
    """The samples, once more; None where that takes long. Raises what the user's code raises."""
    began, samples = perf_counter(), []
    for index in indices:
        samples.append(dataset[index])
        if perf_counter() - began > SECONDS / 2:
            return None
    return samples


def reached_by(collate: Any, samples: list[Any]) -> tuple[Leaves, list[set[str]]] | None:
    """The tensors of the batch, and for the first sample and some others those that change when it is exchanged for
    another one of the batch. None where the same samples make another batch each time, or it takes long."""
    began, held = perf_counter(), collated(collate, samples)
    again, once = collated(collate, samples), perf_counter() - began
    if held.keys() != again.keys() or any(not same(held[path], again[path]) for path in held):
        return None
    places = [0, *spread(len(samples))]
    if once * len(places) > SECONDS:
        return None
    return held, [changed_by(collate, samples, place, held) for place in places]


def spread(count: int) -> list[int]:
    """The places that are tried, from the last to the second one."""
    step = max(1, (count - 1) // TRIED)
    return list(range(count - 1, 0, -step))[:TRIED]


def changed_by(collate: Any, samples: list[Any], place: int, held: Leaves) -> set[str]:
    """The tensors that change when the sample at a place is exchanged, by one of two others."""
    found: set[str] = set()
    for other in {(place + 1) % len(samples), (place + 2) % len(samples)}:
        given = [*samples]
        given[place] = samples[other]
        now = collated(collate, given)
        found |= {path for path, leaf in held.items() if path not in now or not same(leaf, now[path])}
    return found


def collated(collate: Any, samples: list[Any]) -> Leaves:
    """What is made of copies of these samples."""
    found = leaves_of(collate([copy.deepcopy(sample) for sample in samples]))
    return {path: bare(leaf) for path, leaf in found if readable(leaf)}


def bare(leaf: Tensor) -> Tensor:
    """Detach a tensor from its graph."""
    return leaf.detach()


def lost_in(held: Leaves, changed: list[set[str]]) -> tuple[str, ...]:
    """The tensors that the first sample changes and no other does. Nothing where some tensor is of another sample
    alone: then each has tensors of its own."""
    first, others = changed[0], changed[1:]
    own = set().union(*others) - first
    if own or not others:
        return ()
    wide = [path for path, leaf in held.items() if leaf.dim() > 1 and leaf.numel() >= VALUES]
    return tuple(path for path in wide if path in first and not any(path in one for one in others))
