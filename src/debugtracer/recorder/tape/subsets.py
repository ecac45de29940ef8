"""Which sample of the whole dataset an index of a Subset is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch.utils.data import Subset

from debugtracer.recorder.tape.batches import Batch, BatchLog, LoaderInfo
from debugtracer.trace.whole_dataset import WholeDataset

MOST_DEEP = 8  # Subsets of Subsets (ours)


def in_whole(info: LoaderInfo, samples: Sequence[int]) -> WholeDataset | None:
    """The dataset below the Subset that a loader reads, and its indices of these samples; None without a Subset. Asks
    no code of the user's but a list of indices."""
    loader: Any = info.loader()
    dataset: Any = getattr(loader, "dataset", None) or (info.data() if info.data is not None else None)
    found, deep = [*samples], 0
    while type(dataset) is Subset and deep < MOST_DEEP:
        indices = dataset.indices
        if any(not 0 <= index < len(indices) for index in found):
            return None
        found, deep, dataset = [int(indices[index]) for index in found], deep + 1, dataset.dataset
    return WholeDataset(name=type(dataset).__name__, indices=tuple(found)) if deep else None


def whole_of(batches: BatchLog, samples: Sequence[int]) -> WholeDataset | None:
    """The same for samples of the last batches, where the batches of one dataset alone had them all; without indices
    where it may be one of several."""
    seen: dict[int, tuple[LoaderInfo, set[int]]] = {}
    for batch in batches.latest():
        key = dataset_of(batch)
        seen.setdefault(key, (batch.loader, set()))[1].update(batch.indices or ())
    held = [info for info, indices in seen.values() if indices.issuperset(samples)]
    told = [in_whole(info, samples) for info in held]
    known = [one for one in told if one is not None]
    if len(held) == 1 or not known or (None not in told and len(set(known)) == 1):
        return known[0] if known else None
    return WholeDataset(name=known[0].name)


def dataset_of(batch: Batch) -> int:
    """The identity of the dataset that a batch was read from."""
    loader: Any = batch.loader.loader()
    return id(
        getattr(loader, "dataset", None) or (batch.loader.data() if batch.loader.data is not None else batch.loader)
    )
