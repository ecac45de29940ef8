"""Pairs each batch of a DataLoader iterator with the dataset indices drawn for it by the sampler."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, NamedTuple

from debugtracer.recorder.tape.batches import LoaderInfo

ITERABLE = 1  # torch.utils.data.dataloader._DatasetKind.Iterable
Drawn = tuple[int, ...] | int | None


class FetchedRows(NamedTuple):
    """The rows of a batch, and where they came from."""

    rows: int | None
    indices: tuple[int, ...] | None
    """The dataset index of each; None where it is not known."""
    why_unknown: str = ""
    drawn: tuple[int, ...] | None = None
    """What the sampler drew, where the batch has other rows."""


class LoaderFeed:
    """The draws of one iterator. With workers a draw waits under its task number until that task's batch is handed
    out."""

    def __init__(self, info: LoaderInfo, late: bool = False) -> None:
        self.info = info
        self.late = late
        self.rested = False
        """Fetches of this epoch were not seen."""
        self.tasks: dict[int, Any] = {}
        self.latest: Any = None
        self.position = 0
        """IterableDataset: samples of the stream handed out so far in this epoch."""

    def rest(self) -> None:
        """Forget what was drawn: the next fetches are not seen."""
        self.rested, self.latest = True, None
        self.tasks.clear()

    def drawn(self, iterator: Any, index: Any) -> None:
        """Take what the sampler gave, an index or a list; in a stream only how many were asked for is kept."""
        if getattr(iterator, "_dataset_kind", 0) == ITERABLE:
            kept: Any = len(index) if isinstance(index, (list, tuple)) else None
        else:
            kept = as_indices(index)
        task = getattr(iterator, "_send_idx", None)
        if task is None:
            self.latest = kept
            return
        self.tasks[task] = kept

    def take_drawn(self, iterator: Any) -> Drawn:
        """The draw behind the batch just handed out; None if it is not known."""
        if getattr(iterator, "_task_info", None) is None:
            latest, self.latest = self.latest, None
            return latest  # type: ignore[no-any-return]
        waiting, sent = iterator._task_info, iterator._send_idx
        # at or above `sent` are leftovers of an epoch that was broken off (persistent workers count from 0 again)
        gone = [task for task in self.tasks if task not in waiting and task < sent]
        taken = [self.tasks.pop(task) for task in gone]
        return taken[0] if len(taken) == 1 else None

    def indices(self, iterator: Any, rows_of: Callable[[int | None], int | None]) -> FetchedRows:
        """Return rows of the batch just handed out, the dataset index of each (None if unknown), and why unknown."""
        drawn = self.take_drawn(iterator)
        if getattr(iterator, "_dataset_kind", 0) == ITERABLE:
            return self._in_stream(iterator, drawn, rows_of)
        return self.paired(drawn, rows_of)

    def paired(self, drawn: Drawn, rows_of: Callable[[int | None], int | None]) -> FetchedRows:
        """The same for what was drawn from a dataset with indices."""
        if isinstance(drawn, int):
            rows = rows_of(None)
            return FetchedRows(rows, (drawn,) * max(rows or 1, 1))
        if drawn is None:
            return FetchedRows(rows_of(None), None, self.unseen() or "the sampler does not yield integers")
        rows = rows_of(len(drawn))
        if rows != len(drawn):
            why = f"the batch has {rows} rows, the sampler drew {len(drawn)} indices: collate_fn changed the rows"
            return FetchedRows(rows, None, why, drawn)
        return FetchedRows(rows, drawn)

    def unseen(self) -> str:
        """Why what was drawn cannot be known; empty where it was seen."""
        if self.rested:
            return "it was drawn while fetches rested to stay under the promised cost"
        return "the loader was running before debug-tracer came" if self.late else ""

    def _in_stream(self, iterator: Any, asked: Any, rows_of: Callable[[int | None], int | None]) -> FetchedRows:
        if getattr(iterator, "_num_yielded", 1) == 1:
            self.position, self.rested = 0, False
        start = self.position
        if self.late or self.rested:
            return FetchedRows(rows_of(None), None, self.unseen())
        if not getattr(iterator, "_auto_collation", True):
            self.position += 1
            rows = rows_of(None)
            return FetchedRows(rows, (start,) * max(rows or 1, 1))
        rows = rows_of(asked)
        # with workers only they know: take a short batch for a last one
        cut = getattr(getattr(iterator, "_dataset_fetcher", None), "ended", True)
        if rows is None or (rows != asked and not cut):
            self.position += asked or 0
            why = f"the batch has {rows} rows, {asked} samples were read: collate_fn changed the rows"
            return FetchedRows(rows, None, why)
        self.position += rows
        return FetchedRows(rows, tuple(range(start, start + rows)))


def as_indices(index: Any) -> Drawn:
    """The integers of what a sampler yielded: an int for one sample, a tuple for several, None for keys that are not
    integers."""
    if type(index) is not list:  # what torch's own samplers draw for a batch is one
        try:
            return operator.index(index)  # ints, numpy ints, 0-d integer tensors
        except TypeError:
            pass
        if hasattr(index, "tolist"):
            index = index.tolist()
        if isinstance(index, (str, bytes)) or not isinstance(index, (list, tuple, range)):
            return None
    try:
        return tuple(map(operator.index, index))
    except TypeError:
        return None
