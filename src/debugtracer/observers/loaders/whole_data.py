"""All rows of a loader's data in their own order, fetched once at the side for a question about that order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from time import perf_counter
from typing import Any

import torch
from torch import Tensor
from torch.utils.data import TensorDataset, default_collate

from debugtracer.observers.data.row_features import as_features
from debugtracer.observers.loaders.sample_maker import SampleMaker, maker_of
from debugtracer.observers.loaders.untouched import inner
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.recorder.state.leaves import leaves_of
from debugtracer.recorder.tape.batches import LoaderInfo

MOST = 20_000  # rows that are fetched one by one (ours)
SECONDS = 1.5  # that it may take (ours)
CHUNK = 64  # rows that are collated at a time
PLACE = re.compile(r"batch\[(\d+)\]")

Rows = tuple[Tensor, Tensor]
"""Features of the inputs, and the targets."""


def whole_data(run: ObservedRun, info: LoaderInfo, inputs: tuple[str, ...], target: str) -> Rows | None:
    """The rows of the data below a Subset; None where they have no order, take long, or the user's code raises."""
    maker = maker_of(info)
    if maker is None or not info.keeps_order:
        return None
    dataset = inner(maker.dataset)
    if type(dataset) is TensorDataset and maker.collate is default_collate:
        return of_tensors(dataset.tensors, inputs, target)
    try:
        with maker.unchanged(run):
            return joined(fetched(SampleMaker(dataset, maker.collate), inputs, target))
    except (Exception, SystemExit):
        return None  # the user's code; it may need what only a worker has


def of_tensors(tensors: tuple[Tensor, ...], inputs: tuple[str, ...], target: str) -> Rows | None:
    """The same where all of them lie side by side."""
    places = [PLACE.fullmatch(path) for path in (*inputs, target)]
    held = [tensors[int(one[1])].detach().cpu() for one in places if one is not None and int(one[1]) < len(tensors)]
    features = as_features(held[:-1]) if len(held) == len(places) else None
    return None if features is None else (features, held[-1])


def fetched(maker: SampleMaker, inputs: tuple[str, ...], target: str) -> Iterator[Rows | None]:
    """Yield the rows of a few samples at a time; None at last where it takes too long. Raises what the user's code
    raises."""
    length = len(maker.dataset)
    began = perf_counter()
    for begin in range(0, length if length <= MOST else 0, CHUNK):
        samples: list[Any] = []
        for index in range(begin, min(begin + CHUNK, length)):
            samples.append(maker.dataset[index])
            if perf_counter() - began > SECONDS * (index + 1) / length + SECONDS / 4:
                yield None
                return
        leaves = dict(leaves_of(maker.collate(samples)))
        features = as_features(leaves[path].detach().cpu() for path in inputs)
        yield None if features is None else (features, leaves[target].detach().cpu())


def joined(parts: Iterator[Rows | None]) -> Rows | None:
    """The parts joined; None where one is missing."""
    held = []
    for part in parts:
        if part is None:
            return None
        held.append(part)
    return (torch.cat([x for x, _ in held]), torch.cat([y for _, y in held])) if held else None
