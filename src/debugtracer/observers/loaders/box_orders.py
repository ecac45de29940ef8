"""Finds corners of boxes that come in order from the data and not from the loader: mirrored, and not exchanged."""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter
from typing import Any

import torch
from torch import Tensor

from debugtracer.callsites.frames import RawFrames
from debugtracer.callsites.line import first
from debugtracer.errors import guarded
from debugtracer.observers.data.summary_budget import SummaryBudget
from debugtracer.observers.loaders.box_rows import MOST, BoxRows, OrderWatch, alike_path, extents, is_fours
from debugtracer.observers.loaders.loader_history import LoaderHistories, LoaderHistory
from debugtracer.observers.loaders.sample_maker import SampleMaker, maker_of
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer
from debugtracer.recorder.governor import Part
from debugtracer.recorder.state.leaves import leaves_of
from debugtracer.recorder.tape.batches import Batch
from debugtracer.trace.facts.box_edges import BoxEdges

LEAVES = 64  # tensors of a batch (ours)
LOOKS = 200  # batches of a loader (ours)
FETCHES, AGAIN = 48, 8  # samples that are fetched again, and of them broken, all by one line (ours: 2**-8 by chance)
SECONDS = 0.5  # that it may take (ours)
NAMED = 8  # samples
NOWHERE: RawFrames = ()


class BoxOrdersObserver(Observer):
    """Looks at tensors of four columns in the first batches of each loader, within a budget of its own. Asks the
    dataset for samples once more only where one pair of columns has lost its order."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.reset()

    def reset(self) -> None:
        self.histories, self.budget = LoaderHistories(), SummaryBudget()
        self.known: dict[tuple[int, str], BoxRows] = {}
        """By loader and path."""
        self.of: dict[int, LoaderHistory] = {}
        self.looks: dict[int, int] = {}

    def loader_iterated(self, info: Any, iterator: Any) -> None:
        """Listen again: the loader may be new."""
        if self.fetched in self.run.unwanted:
            self.run.subscribe(self.fetched)

    def fetched(self, batch: Batch, data: Any) -> None:
        """Look at the rows of four while that is affordable."""
        if not self.run.affords(Part.SUMMARIES) or not self.budget.open():
            return
        history = self.histories.of(batch.loader)
        number = history.note.number
        looks = self.looks[number] = self.looks.get(number, 0) + 1
        if looks <= LOOKS and (looks == 1 or any(loader == number for loader, _ in self.known)):
            begin = perf_counter()
            with torch.no_grad(), torch._C.DisableTorchFunctionSubclass():
                fresh = self.look(number, batch)
            self.budget.spend(perf_counter() - begin)
            for path in fresh:
                self.decide(history, batch, path)
        elif all(rows.told or rows.rows >= MOST or self.looks[of] > LOOKS for (of, _), rows in self.known.items()):
            self.run.unsubscribe(self.fetched)

    def look(self, number: int, batch: Batch) -> list[str]:
        """Take the rows of one batch; the paths that have any."""
        seen: list[str] = []
        for full, leaf in batch.tensors()[:LEAVES]:
            if not is_fours(leaf, (2, 3)):
                continue
            path = alike_path(full)
            rows = self.known.setdefault((number, path), BoxRows())
            if rows.rows < MOST and not rows.told:
                rows.add(leaf)
                seen.append(path)
        return list(dict.fromkeys(seen))

    def decide(self, history: LoaderHistory, batch: Batch, path: str) -> None:
        """Emit a tensor whose pair is broken, once a line or another loader shows that it was in order."""
        self.of[history.note.number] = history
        number = history.note.number
        self.judge(number, path, batch)
        if self.known[number, path].is_whole():
            for other in [n for n, p in self.known if p == path and n != number and n in self.of]:
                self.judge(other, path, None)

    def judge(self, number: int, path: str, batch: Batch | None) -> None:
        """Emit one tensor, if it is broken and was not."""
        rows = self.known[number, path]
        pair = rows.broken() if not rows.told else None
        if pair is None:
            return
        fetched, raw = 0, NOWHERE
        broken = broken_samples(batch, path, pair) if batch is not None else ()
        if batch is not None and not rows.asked:
            rows.asked = True
            fetched, raw = guarded("box_orders.ask")(self.ask)(batch, path, pair) or (0, NOWHERE)
        whole = [b.rows for (n, p), b in self.known.items() if n != number and p == path and b.is_whole()]
        if raw or whole:
            rows.told = True
            self.emit(number, path, pair, fetched, raw, max(whole, default=0), broken)

    def ask(self, batch: Batch, path: str, pair: int) -> tuple[int, RawFrames]:
        """Fetch samples again: how many came broken, and the line that broke the order of each of them; no line unless
        it is one for all."""
        maker = maker_of(batch.loader)
        if maker is None or not batch.indices:
            return 0, ()
        try:
            with maker.unchanged(self.run):  # one for all: their draws differ
                lines = list(broken_at(maker, batch.indices, path, pair))
        except (Exception, SystemExit):
            return 0, ()  # the user's code; it may need what only a worker has
        same = len(lines) == AGAIN and all(raw[:1] == lines[0][:1] and raw for raw in lines)
        return (len(lines), lines[0]) if same else (len(lines), ())

    def emit(
        self, number: int, path: str, pair: int, fetched: int, raw: RawFrames, whole: int, samples: tuple[int, ...]
    ) -> None:
        """Write down what is known of one tensor."""
        rows, history = self.known[number, path], self.of[number]
        made = first(raw) or next(iter(guarded("box_orders.made")(history.info.made)(path) or ()), None)
        size, broken_size = rows.sizes(pair)
        self.run.emit(
            BoxEdges(
                ref=self.run.ref("load"), loader=history.note, path=path, low=pair, rows=rows.rows,
                broken=int((rows.extents()[:, pair] < 0).sum()), size=size, broken_size=broken_size,
                fetched=fetched if raw else 0, elsewhere=whole, samples=samples, breaks=bool(raw), frame=made,
                loader_frame=history.info.frame,
            )
        )  # fmt: skip


def broken_at(maker: SampleMaker, indices: tuple[int, ...], path: str, pair: int) -> Iterator[RawFrames]:
    """Fetch samples until AGAIN have come broken: yield the line that broke each, nothing where none was seen."""
    began, count = perf_counter(), 0
    for index in (indices * FETCHES)[:FETCHES]:
        watch = OrderWatch(pair)
        with watch:
            made = maker.batch_of(index)
        leaves = [leaf for one, leaf in leaves_of(made) if alike_path(one) == path and is_fours(leaf, (2, 3))]
        if any(bool((extents(leaf)[:, pair] < 0).any()) for leaf in leaves):
            count += 1
            yield watch.raw
        if count == AGAIN or perf_counter() - began > SECONDS:
            return


def broken_samples(batch: Batch, path: str, pair: int) -> tuple[int, ...]:
    """The dataset indices of a few samples of a batch with a broken row."""
    found = [row for full, leaf in batch.tensors() if alike_path(full) == path for row in rows_of(full, leaf, pair)]
    return (batch.samples(found[:NAMED]) or ()) if found else ()


def rows_of(full: str, leaf: Tensor, pair: int) -> Iterator[int]:
    """Yield the samples of a tensor, by their place in the batch, that have a broken row; a tensor that is one sample's
    has its place in its path."""
    if not is_fours(leaf, (2, 3)):
        return
    places = [int(one) for one in full.replace("]", "[").split("[")[2:] if one.isdecimal()]
    whole = alike_path(full) == full
    wrong = leaf[..., pair] > leaf[..., pair + 2]
    rows = wrong.reshape(len(leaf), -1).any(1).nonzero().flatten().tolist()
    yield from rows if whole else places[:1] if rows else ()
