"""Asks each DataLoader whose pass begins whether it has a batch to give."""

from __future__ import annotations

from collections.abc import Sized
from typing import Any

from torch.utils.data import DataLoader, IterableDataset

from debugtracer.callsites.frames import user_frames
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, always
from debugtracer.recorder.tape.batches import LoaderInfo
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.batchless_loader import BatchlessLoader

MOST = 8  # lines that are told (ours)


class BatchlessLoadersObserver(Observer):
    """Calls `len` of a loader where a pass begins: its sampler's, no sample is made."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.told: set[Frame | None] = set()
        """Lines that build such loaders: each epoch may make one anew."""

    def reset(self) -> None:
        self.told.clear()

    @always
    def loader_iterated(self, info: LoaderInfo, iterator: Any) -> None:
        """Emit a loader of a known length that has no batch."""
        loader = info.loader()
        if not isinstance(loader, DataLoader) or isinstance(loader.dataset, IterableDataset):
            return
        if info.frame in self.told or len(self.told) >= MOST or len(loader):
            return
        self.told.add(info.frame)
        stack = user_frames()
        self.run.emit(
            BatchlessLoader(
                ref=self.run.ref(), dataset=info.dataset, rows=rows(loader), batch_size=loader.batch_size,
                frame=info.frame, called=stack[0] if stack else None,
            )
        )  # fmt: skip


def rows(loader: DataLoader[Any]) -> int:
    """The samples that a loader draws, of its dataset or of the part that its sampler chooses."""
    drawn = loader.sampler
    return len(drawn) if isinstance(drawn, Sized) else 0
