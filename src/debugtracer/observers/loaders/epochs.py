"""Follows each DataLoader through its passes: the order of samples, batches that come again, rows that are lost,
samples shared with an evaluation."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from debugtracer.callsites.origins.drawn_anew import drawn_anew
from debugtracer.callsites.origins.split_line import split_line
from debugtracer.callsites.origins.unread_beside import unread_beside
from debugtracer.callsites.repeated_read import repeated_read
from debugtracer.errors import guarded
from debugtracer.observers.loaders.epoch_history import EpochHistory
from debugtracer.observers.loaders.fetch_unread import fetch_unread
from debugtracer.observers.loaders.fetch_write import fetch_write
from debugtracer.observers.loaders.loader_models import LoaderModels
from debugtracer.observers.loaders.row_reach import row_reach
from debugtracer.observers.loaders.row_windows import RUN, shared_windows
from debugtracer.observers.loaders.untouched import inner
from debugtracer.observers.loaders.weighed_draws import weighted_sampler
from debugtracer.observers.loaders.worker_copies import WorkerCopies
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, always
from debugtracer.recorder.output.claim import current_rank
from debugtracer.recorder.tape.batches import Batch, LoaderInfo
from debugtracer.trace.facts.batches import BatchSeen
from debugtracer.trace.facts.epochs import Epoch, Overlap, Restart
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.facts.loaders import LoaderSeen
from debugtracer.trace.step import StepRef

MOST_LOADERS = 32  # loaders that are emitted; a loop that builds one per step adds no more after that (ours)
FIRST_BATCHES = 20  # training batches kept for the comparison of ranks (ours)
AGAIN = (10, 100)  # passes begun with the same batch at which it is emitted (ours)
SAMPLES = 8  # shared samples named as evidence
MANY = 64  # values of a target above which it is no class


class EpochObserver(Observer):
    """Reads only what the loader has handed out, and only in host memory."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.histories: weakref.WeakKeyDictionary[LoaderInfo, EpochHistory] = weakref.WeakKeyDictionary()
        self.known: list[EpochHistory] = []
        self.emitted: Batch | None = None
        self.count = 0
        self.ranks: int | None = None
        self.copies = WorkerCopies(run)
        self.models = LoaderModels()

    def reset(self) -> None:
        self.histories.clear()
        self.known.clear()
        self.copies.reset()
        self.models.reset()
        self.emitted, self.count, self.ranks = None, 0, None

    def missed(self) -> None:
        """Leave the passes in flight: some of their batches were not counted."""
        for history in self.known:
            history.leave()

    def fetched(self, batch: Batch, data: Any) -> None:
        """Add a batch to its pass; number 0 begins a new one."""
        history = self.course_of(batch.loader)
        if history is None:
            return
        if batch.number == 0 or (history.now is None and not history.left):
            self.turn(history, batch)
        if history.now is None:
            return  # the rest of a pass that was not seen whole
        history.add(batch, self.run.iteration)
        self.emit_restart(history)

    @always
    def entered(self, module: nn.Module, args: tuple[Any, ...]) -> None:
        """Note that the batch fetched last is one of an evaluation, at a module call without a graph; and, now and
        then, that one which goes in with a graph is of training, also where another was fetched after it."""
        if torch.is_grad_enabled():
            self.models.enter(module)
            if self.run.inspecting and module.training:
                self.trained(args)
            return
        batch = self.run.batches.last()
        history = self.histories.get(batch.loader) if batch is not None else None
        if history is not None:
            history.evaluates = True
            self.models.evaluate(history.number, module)

    def trained(self, args: tuple[Any, ...]) -> None:
        """Note the loaders whose batches are among the arguments as loaders of training; a batch that was kept from
        steps ago is one to look at."""
        for hit in (self.run.batches.find(t) for t in args if isinstance(t, Tensor)):
            history = self.histories.get(hit[0].loader) if hit is not None and hit[0].held else None
            if history is not None and not history.trains:
                history.trains = True
                self.emit_loader(history)

    def backward_begins(self, losses: list[Tensor]) -> None:
        """Note that the batch fetched last is one of training."""
        batch = self.run.batches.last()
        if batch is None or batch is self.emitted:
            return
        self.emitted = batch
        history = self.histories.get(batch.loader)
        if history is None:
            return
        self.models.train(history.number)
        if not history.trains:
            history.trains = True
            self.emit_loader(history)
        if self.ranks is None:
            self.ranks = current_rank()[1]
        if self.ranks > 1 and (self.count < FIRST_BATCHES or self.run.inspecting):
            self.count += 1
            self.emit_batch(history, batch)

    def ended(self) -> None:
        """Emit the passes in flight, the loaders that never trained, and what they share with those that did."""
        for history in self.known:
            if not history.trains:
                self.emit_loader(history)
            self.emit_epoch(history)
        self.emit_overlaps()

    def course_of(self, info: LoaderInfo) -> EpochHistory | None:
        """What is known of a loader; a new one at the line of one that is gone goes on where that ended."""
        history = self.histories.get(info)
        if history is None:
            history = next(
                (c for c in self.known if c.gone() and info.goes_on(c.info) and is_another_pass(c, info)), None
            )
            if history is None:
                if len(self.known) >= MOST_LOADERS:
                    return None
                history = EpochHistory(len(self.known))
                self.known.append(history)
            history.take(info)
            self.histories[info] = history
        return history

    def turn(self, history: EpochHistory, batch: Batch) -> None:
        """Emit the last pass, and begin a new one."""
        self.emit_epoch(history)
        history.turn(batch)
        guarded("observers.loaders.worker_copies")(self.copies.begun)(batch, history.number, history.passes - 1)

    def emit_epoch(self, history: EpochHistory) -> None:
        """Write down what was counted in the pass that is over."""
        past = history.now
        if past is None or not past.batches:
            return
        history.now = None
        if history.trains and not history.asked:
            history.asked = True
            for asked in (row_reach, fetch_write, fetch_unread):
                guarded(f"observers.loaders.{asked.__name__}")(self.ask)(history, asked)
        ref = self.run.ref("load", max(self.run.iteration - 1, 0))
        self.run.emit(
            Epoch(
                ref=ref, loader=history.number, number=past.number, frame=history.info.frame, trains=history.trains,
                sampler=history.info.sampler, sampler_epoch=past.sampler_epoch, shuffles=history.shuffles,
                batches=past.batches, expected=past.expected, order=tuple(past.order), ascending=past.ascending,
                content=tuple(past.content), dropped=past.dropped, short=past.short, evaluates=history.evaluates,
                renewed=past.renewed,
            )
        )  # fmt: skip

    def ask(self, history: EpochHistory, asked: Callable[[LoaderInfo, int, StepRef], Fact | None]) -> None:
        """Ask the dataset, once, something that runs the user's code."""
        with self.run.paused():
            fact = asked(history.info, history.number, self.run.ref("load", max(self.run.iteration - 1, 0)))
        if fact is not None:
            self.run.emit(fact)

    def emit_restart(self, history: EpochHistory) -> None:
        """Emit a batch that has begun enough passes."""
        again = history.again
        if again is not None and again.count in AGAIN and history.now is not None and history.now.batches == 1:
            self.run.emit(
                Restart(
                    ref=self.run.ref("load"), loader=history.number, frame=history.info.frame, first=again.first,
                    count=again.count, asked=again.asked, batches=history.length(),
                )
            )  # fmt: skip

    def emit_loader(self, history: EpochHistory) -> None:
        """Write down its batch size, workers and sampler."""
        info = history.info
        weights, draws = weighted(history.loader())
        self.run.emit(
            LoaderSeen(
                ref=self.run.ref("load"), loader=history.number, frame=info.frame, dataset=info.dataset,
                length=history.samples, batch_size=info.batch_size, workers=info.num_workers, sampler=info.sampler,
                trains=history.trains, shards=history.shards, shuffles=history.shuffles, generator=history.seeded,
                worker_init=history.worker_init, persistent=history.persistent, cores=cores(),
                weights=weights, draws=draws, sampler_frame=history.sampler_line() if weights is not None else None,
                rereads=repeated_read(getattr(history.loader(), "dataset", None)) if history.trains else None,
            )
        )  # fmt: skip

    def emit_batch(self, history: EpochHistory, batch: Batch) -> None:
        """Emit what ranks are compared by."""
        leaves = batch.tensors()
        self.run.emit(
            BatchSeen(
                ref=self.run.ref("load"), loader=history.number, frame=batch.loader.frame, sampler=batch.loader.sampler,
                shards=history.shards, length=history.samples, rows=batch.rows, indices=(batch.indices or ())[:MANY],
                digests=history.digests, labels=labels_of([leaf for _, leaf in leaves], batch.rows),
                width=max((leaf.shape[1] for _, leaf in leaves if leaf.dim() > 1), default=None),
                sampler_frame=history.sampler_line() if history.shards else None,
            )
        )  # fmt: skip

    def emit_overlaps(self) -> None:
        """Compare each loader that only evaluates with those that train."""
        for train in [c for c in self.known if c.trains]:
            for other in [c for c in self.known if c.evaluates and not c.trains]:
                if self.models.apart(train.number, other.number):
                    continue
                shared = other.shared_with(train)
                if shared:
                    samples = tuple(index for row in shared[:SAMPLES] if (index := other.rows[row]) is not None)
                    beside = guarded("observers.loaders.unread_beside")(unread_beside)(
                        train.info.frame, other.info.frame
                    )
                    self.run.emit(
                        Overlap(
                            ref=self.run.ref("load", max(self.run.iteration - 1, 0)), loader=other.number,
                            frame=other.info.frame, train_frame=train.info.frame, shared=len(shared),
                            rows=len(other.rows), trained=len(train.rows), how="content", samples=samples,
                            split=guarded("observers.loaders.drawn_anew")(drawn_anew)(
                                inner(train.info.dataset_held()), inner(other.info.dataset_held()), other.info.frame
                            ),
                            unread=beside.name if beside else "", unread_frame=beside.line if beside else None,
                        )
                    )  # fmt: skip
                guarded("observers.loaders.row_windows")(self.emit_windows)(train, other)

    def emit_windows(self, train: EpochHistory, other: EpochHistory) -> None:
        """Compare the windows of two loaders."""
        told = shared_windows(train.windows, other.windows)
        if told.shared:
            known = [other.windows.indices[row] for row in told.places[:SAMPLES]]
            self.run.emit(
                Overlap(
                    ref=self.run.ref("load", max(self.run.iteration - 1, 0)), loader=other.number,
                    frame=other.info.frame, train_frame=train.info.frame, shared=told.shared, rows=told.rows,
                    trained=len(train.windows.indices), how="windows", same=told.same, length=RUN,
                    split=split_line(other.info.frame, train.info.frame),
                    samples=tuple(index for index in known if index is not None),
                )
            )  # fmt: skip


def is_another_pass(known: EpochHistory, new: LoaderInfo) -> bool:
    """Whether as many samples are read in the same way: one line builds the loaders of several parts of the data."""
    old = known.info
    samples = new.dataset_len() if known.samples is not None else None
    return (old.batch_size, old.sampler, known.samples) == (new.batch_size, new.sampler, samples)


def labels_of(leaves: list[Tensor], rows: int | None) -> tuple[tuple[int, int], ...]:
    """Count the values of the last integer leaf with one value a row."""
    for leaf in reversed(leaves):
        if (
            leaf.device.type == "cpu"
            and not leaf.is_floating_point()
            and not leaf.is_complex()
            and leaf.dim() == 1
            and leaf.shape[0] == rows
        ):
            values, counts = leaf.unique(return_counts=True)
            return tuple(zip(values.tolist(), counts.tolist(), strict=True)) if len(values) <= MANY else ()
    return ()


def weighted(loader: Any) -> tuple[int | None, int | None]:
    """The number of weights of a sampler that draws by weights, and of its draws; None for any other."""
    sampler = weighted_sampler(loader)
    return (len(sampler.weights), int(sampler.num_samples)) if sampler is not None else (None, None)


def cores() -> int:
    """The number of cores this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
