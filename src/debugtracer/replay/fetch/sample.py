"""How one row of a batch is fetched again in the child: from its dataset by its index, from a stream by its place, and
through the loader's collate_fn."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils.data import IterableDataset
from torch.utils.data._utils import worker as worker_module

from debugtracer.errors import ReplayRefused
from debugtracer.observers.loaders.refetch import parts_of
from debugtracer.recorder.tape.batches import Batch, LoaderInfo
from debugtracer.replay.fetch.values import is_bad
from debugtracer.replay.trials.plain_samples import source

FAR = 200_000  # items of a stream that are passed over (ours)
NEAR = 64  # items after the expected one that are looked at (ours)


@dataclass(frozen=True)
class Pipeline:
    """What makes the batches of a loader."""

    dataset: Any
    collate: Callable[[list[Any]], Any]
    batched: bool
    """Samples are put together by collate_fn; else the dataset hands out whole batches."""
    worker_init: Any
    workers: int

    @property
    def streams(self) -> bool:
        """Whether the dataset has no indices and is read from its beginning."""
        return isinstance(self.dataset, IterableDataset)

    def sample(self, index: int) -> Any:
        """Ask a dataset with indices for one sample, as the loader's fetcher does."""
        several = getattr(self.dataset, "__getitems__", None)
        return several([index])[0] if several and self.batched else self.dataset[index]

    def collated(self, samples: list[Any]) -> Any:
        """Put samples together as the loader does."""
        return self.collate(samples if self.batched else samples[0])


def pipeline_of(info: LoaderInfo) -> Pipeline:
    """The pipeline of a loader. Raises ReplayRefused with the reason why it cannot be reached."""
    loader: Any = info.loader()
    running: Any = info.iterator() if info.iterator is not None else None
    if running is not None:
        init = getattr(running, "_worker_init_fn", None) or getattr(loader, "worker_init_fn", None)
        return Pipeline(running._dataset, running._collate_fn, running._auto_collation, init, info.num_workers)
    dataset = getattr(loader, "dataset", None)
    if dataset is None:
        dataset = info.data() if info.data is not None else None
    if dataset is None:
        raise ReplayRefused("the dataset of the batch is gone")
    told = source(loader if hasattr(loader, "_auto_collation") else None, dataset)
    return Pipeline(dataset, told["collate_fn"], told["auto_collation"], told["worker_init_fn"], info.num_workers)


def as_worker(pipeline: Pipeline, number: int) -> None:
    """Make this process what the loader's worker was that fetched batch `number`: its id, seed and worker_init_fn."""
    if not pipeline.workers:
        return
    identity, seed = number % pipeline.workers, torch.initial_seed() + number % pipeline.workers
    made: Any = worker_module.WorkerInfo
    info = made(id=identity, num_workers=pipeline.workers, seed=seed, dataset=pipeline.dataset)
    worker_module._worker_info = info
    reseed(seed)
    if pipeline.worker_init is not None:
        pipeline.worker_init(identity)


def forgotten(dataset: Any, index: int) -> bool:
    """Drop what the dataset and its parts keep under this index in dicts and caches of functions; True if anything. For
    a process that is thrown away."""
    found = False
    for owner in parts_of(dataset):
        for value in list(getattr(owner, "__dict__", {}).values()):
            if isinstance(value, dict):
                found |= value.pop(index, None) is not None
        for value in list(vars(type(owner)).values()):
            if hasattr(value, "cache_clear"):
                value.cache_clear()
                found = True
    return found


def reseed(seed: int) -> None:
    """Seed the generators of the host, as a loader does in a worker."""
    random.seed(seed)
    torch.manual_seed(seed)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(seed % 2**32)


def stream_to(pipeline: Pipeline, batch: Batch, index: int) -> Iterator[Any]:
    """The stream from its beginning up to just before the wanted sample. Raises ReplayRefused."""
    if pipeline.workers:  # each worker reads a stream of its own, a batch of it in turn
        first = (batch.number // pipeline.workers) * (batch.loader.batch_size or 1)
        place = first + index - min(batch.indices or (index,))
    else:
        place = index
    if place > FAR:
        raise ReplayRefused(f"the sample is item {place} of a stream, too far to read to it again")
    stream: Iterator[Any] = iter(pipeline.dataset)
    for _ in range(place):
        if next(stream, stream) is stream:
            raise ReplayRefused("the stream is shorter when it is read again")
    return stream


def next_bad(stream: Iterator[Any]) -> Any:
    """The first sample with NaN or Inf of the next items of a stream. Raises ReplayRefused where none is."""
    for _ in range(NEAR):
        one = next(stream, stream)
        if one is stream:
            break
        if is_bad(one):
            return one
    raise ReplayRefused("the stream gives other samples when it is read again")
