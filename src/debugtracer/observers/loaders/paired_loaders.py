"""Watches loaders that run side by side: do they go on handing out the same rows?"""

from __future__ import annotations

import weakref
from typing import Any

from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer
from debugtracer.recorder.tape.batches import Batch, LoaderInfo
from debugtracer.trace.facts.paired_loaders import PairBroken

LEAST = 3  # batches of the first pass that must be equal (ours: one may be by chance)
MOST = 8  # loaders that are compared (ours)
SHOWN = 4  # rows named as evidence


class SideBySide:
    """Where one loader is: the batch it handed out last."""

    def __init__(self, info: LoaderInfo) -> None:
        self.info = weakref.ref(info)
        self.passes = -1
        self.number = -1
        self.indices: tuple[int, ...] = ()
        self.order = 0
        """How many batches of any loader came before its last one."""


class PairedLoadersObserver(Observer):
    """Compares dataset indices alone; leaves after the first pass where no two loaders were equal in it."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.loaders: list[SideBySide] = []
        self.equal: dict[tuple[int, int], int] = {}
        """Two loaders -> equal batches of their first pass; 0 where one differed."""
        self.fetches = 0

    def reset(self) -> None:
        self.loaders.clear()
        self.equal.clear()

    def missed(self) -> None:
        """Give up: batches that were not seen may have been unequal."""
        self.leave()

    def leave(self) -> None:
        """Stop listening to batches."""
        self.reset()
        self.run.unsubscribe(self.fetched, self.missed)

    def fetched(self, batch: Batch, data: Any) -> None:
        """Compare a batch with the one of the same number of each other loader."""
        place = self.place_of(batch.loader)
        if place is None or batch.indices is None:
            return self.leave()
        mine, self.fetches = self.loaders[place], self.fetches + 1
        mine.passes += batch.number == 0
        if mine.passes > 0 and not any(count >= LEAST for count in self.equal.values()):
            return self.leave()
        mine.number, mine.indices, mine.order = batch.number, batch.indices, self.fetches
        for other, one in enumerate(self.loaders):
            if (
                other != place
                and (one.number, one.passes) == (mine.number, mine.passes)
                and one.order >= self.fetches - len(self.loaders)  # it was fetched just before
            ):
                self.compare(other, place)

    def place_of(self, info: LoaderInfo) -> int | None:
        """The number of a loader; None where there are too many."""
        for place, one in enumerate(self.loaders):
            if one.info() is info:
                return place
        if len(self.loaders) == MOST:
            return None
        self.loaders.append(SideBySide(info))
        return len(self.loaders) - 1

    def compare(self, first: int, second: int) -> None:
        """Count an equal batch of the first pass; emit the first unequal one of a later pass."""
        a, b = self.loaders[first], self.loaders[second]
        pair = (min(first, second), max(first, second))
        same, count = a.indices == b.indices, self.equal.get(pair)
        if not a.passes:
            if not same:
                self.equal[pair] = 0
            elif count != 0 and shuffled(a.indices):
                self.equal[pair] = (count or 0) + 1
        elif not same and count is not None and count >= LEAST:
            one, other = a.info(), b.info()
            self.run.emit(
                PairBroken(
                    ref=self.run.ref("load"), frame=one.frame if one is not None else None,
                    other_frame=other.frame if other is not None else None, equal=count, number=b.number,
                    passes=b.passes, rows=a.indices[:SHOWN], other_rows=b.indices[:SHOWN],
                )
            )  # fmt: skip
            self.leave()


def shuffled(indices: tuple[int, ...]) -> bool:
    """True for rows that do not just follow each other."""
    return len(indices) > 1 and indices != tuple(range(indices[0], indices[0] + len(indices)))
