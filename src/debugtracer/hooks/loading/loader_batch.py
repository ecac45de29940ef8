"""A fetched batch and its loader as they are logged."""

from __future__ import annotations

import weakref
from functools import partial
from typing import Any

from torch.utils.data._utils import worker

from debugtracer.callsites.row_order import keeps_order
from debugtracer.hooks.loading.loader_feed import Drawn, FetchedRows, LoaderFeed
from debugtracer.recorder.state.leaves import Leaf, leaves_of, rows_of
from debugtracer.recorder.state.weak import WeakRef
from debugtracer.recorder.tape.batches import Batch, LoaderInfo
from debugtracer.trace.birth import Frame

worker_info: Any = partial(getattr, worker, "_worker_info", None)
"""What get_worker_info gives, without a call of Python's: asked for each batch."""


def number_of(iterator: Any) -> int:
    """The number of the batch that an iterator gave last, from 0 in its epoch."""
    return max(0, int(getattr(iterator, "_num_yielded", 1)) - 1)


def batch_of(info: LoaderInfo, fetched: FetchedRows, number: int, waited: float, leaves: list[Leaf]) -> Batch:
    """A batch with where its rows came from."""
    return Batch(
        loader=info,
        indices=fetched.indices,
        number=number,
        wait_s=waited,
        leaves=[(path, WeakRef(leaf)) for path, leaf in leaves],
        rows=fetched.rows,
        note=fetched.why_unknown,
        held=[leaf for _, leaf in leaves],
        drawn=fetched.drawn if fetched.drawn is not None else fetched.indices,
    )


def late_batch(feed: LoaderFeed, drawn: Drawn, data: Any, number: int, waited: float) -> Batch:
    """A batch that was fetched while all rested, once somebody asks for it."""
    leaves = leaves_of(data)
    fetched = feed.paired(drawn, lambda expected: rows_of(data, leaves, expected))
    return batch_of(feed.info, fetched, max(number, 0), waited, leaves)


def sampler_name(loader: Any) -> str:
    """The batch sampler's type if it is one of the user's, else the sampler's."""
    batch_sampler = getattr(loader, "batch_sampler", None)
    own = batch_sampler is not None and type(batch_sampler).__name__ != "BatchSampler"
    return type(batch_sampler if own else getattr(loader, "sampler", None)).__name__


def reference_to(dataset: Any) -> weakref.ref[Any] | None:
    """A list or a tuple takes none."""
    try:
        return weakref.ref(dataset)
    except TypeError:
        return None


def info_of(loader: Any, reference: weakref.ref[Any]) -> LoaderInfo:
    """What a loader tells of itself."""
    return LoaderInfo(
        loader=reference,
        dataset=type(loader.dataset).__name__,
        batch_size=getattr(loader, "batch_size", None),
        num_workers=getattr(loader, "num_workers", 0),
        sampler=sampler_name(loader),
        data=reference_to(loader.dataset),
        keeps_order=keeps_order(getattr(loader, "collate_fn", None)),
    )


def line_of_the_loader_rebuilt(known: list[LoaderInfo], loader: Any) -> Frame | None:
    """The line of the user's loader, where a framework has built its own round the same dataset; that is the line to
    edit."""
    for info in known:
        other = info.loader()
        rebuilt = other is not None and other is not loader and getattr(other, "dataset", None) is loader.dataset
        if rebuilt and info.frame is not None:
            return info.frame
    return None


def info_of_iterator(iterator: Any) -> LoaderInfo:
    """What an iterator that is older than us tells of its loader."""
    sampler = getattr(iterator, "_index_sampler", None)
    return LoaderInfo(
        loader=weakref.ref(iterator),
        dataset=type(getattr(iterator, "_dataset", None)).__name__,
        batch_size=getattr(sampler, "batch_size", None),
        num_workers=int(getattr(iterator, "_num_workers", 0)),
        sampler=type(getattr(sampler, "sampler", sampler)).__name__,
        keeps_order=keeps_order(getattr(iterator, "_collate_fn", None)),
    )
