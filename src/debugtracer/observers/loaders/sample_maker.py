"""What makes the batches of a loader: its dataset and its collate function, to be asked for a few samples once more."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch.utils.data import IterableDataset

from debugtracer.observers.loaders.refetch import restored
from debugtracer.observers.loaders.untouched import inner, untouched
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.recorder.tape.batches import LoaderInfo


class SampleMaker(NamedTuple):
    """Both are the user's code: what they raise passes."""

    dataset: Any
    collate: Any

    def batch_of(self, index: int) -> Any:
        """What the collate function makes of one sample alone."""
        return self.collate([self.dataset[index]])

    @contextlib.contextmanager
    def unchanged(self, run: ObservedRun) -> Iterator[None]:
        """Leave both, the generators and the streams as they were; no hook of ours listens in the with block."""
        has_attributes = hasattr(inner(self.dataset), "__dict__")
        left_alone = untouched(self.dataset) if has_attributes else contextlib.nullcontext()
        with run.disabled(), restored(getattr(self.collate, "__self__", self.collate)), left_alone, torch.no_grad():
            yield


def maker_of(info: LoaderInfo) -> SampleMaker | None:
    """What the latest iterator of a loader asks; None where it is gone or has no samples by number."""
    iterator: Any = info.iterator() if info.iterator is not None else None
    dataset, collate = getattr(iterator, "_dataset", None), getattr(iterator, "_collate_fn", None)
    if dataset is None or collate is None or isinstance(dataset, IterableDataset):
        return None
    return SampleMaker(dataset, collate)
