"""Follows each DataLoader through its passes: the order of samples, batches that come again, rows that are lost, samples shared with an evaluation."""

from __future__ import annotations

import os
import weakref
from typing import Any

import torch
from torch import Tensor, nn

from debugtracer.probes.course import Course
from debugtracer.probes.taker import Taker
from debugtracer.recorder.batches import Batch, LoaderInfo
from debugtracer.recorder.claim import current_rank
from debugtracer.trace.facts.batches import BatchSeen
from debugtracer.trace.facts.epochs import Epoch, Overlap, Restart
from debugtracer.trace.facts.loaders import LoaderSeen

MOST_LOADERS = 32  # loaders that are told of; a loop that builds one per step says no more after that (ours)
FIRST_BATCHES = 20  # training batches kept for the comparison of ranks (CHECKS 6.3: the first steps, then every 100)
AGAIN = (10, 100)  # passes begun with the same batch at which it is told (ours)
SAMPLES = 8  # shared samples named as evidence
MANY = 64  # values of a target above which it is no class


class EpochTaker(Taker):
    """Reads only what the loader has handed out, and only in host memory."""

    def __init__(self) -> None:
        super().__init__()
        self.courses: weakref.WeakKeyDictionary[LoaderInfo, Course] = weakref.WeakKeyDictionary()
        self.known: list[Course] = []
        self.told: Batch | None = None
        self.count = 0
        self.ranks: int | None = None

    def forget(self) -> None:
        """A forked child starts from nothing."""
        self.courses.clear()
        self.known.clear()
        self.told, self.count, self.ranks = None, 0, None

    def fetched(self, batch: Batch, data: Any) -> None:
        """A batch joins its pass; number 0 begins a new one."""
        course = self.course_of(batch.loader)
        if course is None:
            return
        if course.now is None or batch.number == 0:
            self.turn(course, batch)
        course.add(batch, self.desk.iteration)
        self.tell_restart(course)

    def entered(self, module: nn.Module, args: tuple[Any, ...]) -> None:
        """A module call without a graph: the batch fetched last is one of an evaluation."""
        batch = self.desk.batches.last() if not torch.is_grad_enabled() else None
        course = self.courses.get(batch.loader) if batch is not None else None
        if course is not None:
            course.evaluates = True

    def backward_begins(self, losses: list[Tensor]) -> None:
        """The batch fetched last is one of training."""
        batch = self.desk.batches.last()
        if batch is None or batch is self.told:
            return
        self.told = batch
        course = self.courses.get(batch.loader)
        if course is None:
            return
        if not course.trains:
            course.trains = True
            self.tell_loader(course)
        if self.ranks is None:
            self.ranks = current_rank()[1]
        if self.ranks > 1 and (self.count < FIRST_BATCHES or self.desk.inspecting):
            self.count += 1
            self.tell_batch(course, batch)

    def ended(self) -> None:
        """The passes in flight, the loaders that never trained, and what they share with those that did."""
        for course in self.known:
            if not course.trains:
                self.tell_loader(course)
            self.tell_epoch(course)
        self.tell_overlaps()

    def course_of(self, info: LoaderInfo) -> Course | None:
        """What is known of a loader; a new one at the line of one that is gone goes on where that ended."""
        course = self.courses.get(info)
        if course is None:
            course = next((c for c in self.known if c.gone() and info.goes_on(c.info) and same(c.info, info)), None)
            if course is None:
                if len(self.known) >= MOST_LOADERS:
                    return None
                course = Course(len(self.known))
                self.known.append(course)
            course.info = info
            self.courses[info] = course
        return course

    def turn(self, course: Course, batch: Batch) -> None:
        """A new pass: the last one is told."""
        self.tell_epoch(course)
        course.turn(batch)

    def tell_epoch(self, course: Course) -> None:
        """The pass that is over."""
        past = course.now
        if past is None or not past.batches:
            return
        course.now = None
        ref = self.desk.ref("load", max(self.desk.iteration - 1, 0))
        self.desk.tell(
            Epoch(
                ref=ref, loader=course.number, number=past.number, frame=course.info.frame, trains=course.trains, sampler=course.info.sampler,
                sampler_epoch=past.sampler_epoch, shuffles=course.shuffles, batches=past.batches, expected=past.expected, order=tuple(past.order),
                ascending=past.ascending, content=tuple(past.content), dropped=past.dropped, short=past.short,
            )
        )  # fmt: skip

    def tell_restart(self, course: Course) -> None:
        """A batch that has begun enough passes to say so."""
        again = course.again
        if again is not None and again.count in AGAIN and course.now is not None and course.now.batches == 1:
            self.desk.tell(
                Restart(
                    ref=self.desk.ref("load"), loader=course.number, frame=course.info.frame, first=again.first, count=again.count,
                    asked=again.asked, batches=course.length(),
                )
            )  # fmt: skip

    def tell_loader(self, course: Course) -> None:
        """How it is set up."""
        info = course.info
        self.desk.tell(
            LoaderSeen(
                ref=self.desk.ref("load"), loader=course.number, frame=info.frame, dataset=info.dataset, length=course.samples,
                batch_size=info.batch_size, workers=info.num_workers, sampler=info.sampler, trains=course.trains, shards=course.shards,
                shuffles=course.shuffles, generator=course.seeded, worker_init=course.worker_init,
                persistent=course.persistent, cores=cores(),
            )
        )  # fmt: skip

    def tell_batch(self, course: Course, batch: Batch) -> None:
        """What ranks are compared by."""
        leaves = batch.tensors()
        self.desk.tell(
            BatchSeen(
                ref=self.desk.ref("load"), loader=course.number, frame=batch.loader.frame, sampler=batch.loader.sampler, shards=course.shards,
                length=course.samples, rows=batch.rows, indices=(batch.indices or ())[:MANY], digests=course.digests,
                labels=labels_of([leaf for _, leaf in leaves], batch.rows), width=max((leaf.shape[1] for _, leaf in leaves if leaf.dim() > 1), default=None),
            )
        )  # fmt: skip

    def tell_overlaps(self) -> None:
        """Each loader that only evaluates beside those that train."""
        for train in [c for c in self.known if c.trains]:
            for other in [c for c in self.known if c.evaluates and not c.trains and c.rows]:
                shared = [row for row in other.rows if row in train.rows]
                if shared:
                    samples = tuple(index for row in shared[:SAMPLES] if (index := other.rows[row]) is not None)
                    self.desk.tell(
                        Overlap(
                            ref=self.desk.ref("load", max(self.desk.iteration - 1, 0)), loader=other.number, frame=other.info.frame,
                            train_frame=train.info.frame, shared=len(shared), rows=len(other.rows), trained=len(train.rows), how="content", samples=samples,
                        )
                    )  # fmt: skip


def same(old: LoaderInfo, new: LoaderInfo) -> bool:
    """Read in the same way."""
    return (old.batch_size, old.sampler) == (new.batch_size, new.sampler)


def labels_of(leaves: list[Tensor], rows: int | None) -> tuple[tuple[int, int], ...]:
    """Counts of the last integer leaf with one value a row."""
    for leaf in reversed(leaves):
        if leaf.device.type == "cpu" and not leaf.is_floating_point() and not leaf.is_complex() and leaf.dim() == 1 and leaf.shape[0] == rows:
            values, counts = leaf.unique(return_counts=True)
            return tuple(zip(values.tolist(), counts.tolist(), strict=True)) if len(values) <= MANY else ()
    return ()


def cores() -> int:
    """Cores this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
