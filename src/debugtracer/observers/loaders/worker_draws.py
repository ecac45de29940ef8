"""Records generator states inside forked loader workers, in shared memory, to find workers that draw the same
numbers."""

from __future__ import annotations

import functools
import mmap
import os
import struct
import sys
import weakref
import zlib
from collections.abc import Callable, Iterable
from typing import Any

from torch import Tensor
from torch._utils import ExceptionWrapper
from torch.utils.data import IterableDataset, get_worker_info
from torch.utils.data._utils import worker as loader_worker
from torch.utils.data._utils.fetch import _IterableDatasetFetcher, _MapDatasetFetcher

from debugtracer.callsites.definitions import defined_at
from debugtracer.callsites.own_frames import hide
from debugtracer.errors import guarded
from debugtracer.hooks.hook import Patches
from debugtracer.hooks.loading.loader_batch import worker_info
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer
from debugtracer.observers.program.generator_state import (
    GeneratorState,
    HeldGenerator,
    drew,
    global_states,
    held_by,
    state_of,
)
from debugtracer.observers.program.global_generators import generators_called, written_at
from debugtracer.recorder.tape.batches import Batch, LoaderInfo
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.worker_draws import DrawnBy, WorkerDraws
from debugtracer.trace.step import StepRef

HEAD, ROW = struct.Struct("<QII"), struct.Struct("<QQQI")  # pid, fetches, rows; path, before, after, draws
SLOT, SLOTS = 1024, 256  # bytes of one worker, workers at once (ours)
ROWS = (SLOT - HEAD.size) // ROW.size
FETCHES = 2  # a generator that only the first fetch draws from set something up
PASSES = 3  # passes of a loader that are looked at: enough to see them repeat
UNKNOWN, NO, YES = 0, 1, 2


class WorkerWatch:
    """In a worker: the states around its first fetches."""

    def __init__(self) -> None:
        self.fetches = 0
        self.before: dict[str, GeneratorState] = {}
        self.last: dict[str, GeneratorState] = {}
        self.draws: dict[str, int] = {}

    def compare_states(self, *readers: Any) -> None:
        """Read the generators before and after each of the first fetches."""
        held = [*generators_called(*readers), *held_by(readers[0])]
        now = {each.path: state_of(each.generator) for each in held} | global_states()
        if not self.before:
            self.before = now
        else:
            for path in now.keys() & self.last.keys():
                told = drew(self.last[path], now[path])
                value = UNKNOWN if told is None else YES if told else NO
                self.draws[path] = (
                    value if path not in self.draws else min(self.draws[path], value, key=lambda v: (v != NO, v))
                )
        self.last = now


def without_us(original: Callable[..., None]) -> Callable[..., None]:
    """Wrap the packing of a worker's exception: `fetch` is no line of the user's traceback."""

    @functools.wraps(original)
    def packed(wrapper: Any, *args: Any, **kwargs: Any) -> None:
        if get_worker_info() is not None:
            hide(sys.exc_info()[1])
        original(wrapper, *args, **kwargs)

    return packed


class WorkerDrawsObserver(Observer):
    """The workers only read their states; nothing is drawn, nothing else is shared. Other start methods than fork are
    not seen."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.patches = Patches()
        self.memory: mmap.mmap | None = None
        self.pid = 0
        self.watch = WorkerWatch()
        self.waiting: dict[LoaderInfo, tuple[StepRef, int, weakref.ref[Any]]] = {}
        """Passes whose workers are not read yet: where it began, its number, its iterator."""
        self.passes: weakref.WeakKeyDictionary[LoaderInfo, int] = weakref.WeakKeyDictionary()
        self.training: weakref.WeakSet[LoaderInfo] = weakref.WeakSet()
        self.numbers: weakref.WeakKeyDictionary[LoaderInfo, int] = weakref.WeakKeyDictionary()

    def install(self) -> None:
        """Listen where workers begin: a fetch in the training thread does not pass through us."""
        self.pid = os.getpid()
        self.memory = mmap.mmap(-1, SLOT * SLOTS)
        self.patches.wrap(loader_worker, "_worker_loop", self.begun)

    def remove(self) -> None:
        """Restore the fetchers; a loader worker, where the session ends at once, goes on recording itself."""
        if os.getpid() == self.pid:
            self.patches.undo()

    def reset(self) -> None:
        """Reset for a forked child, maybe a worker: it has fetched nothing."""
        self.watch = WorkerWatch()
        self.waiting.clear()

    def begun(self, original: Callable[..., None]) -> Callable[..., None]:
        """Wrap the loop of a worker: in its process, and there alone, fetches are wrapped."""

        @functools.wraps(original)
        def _worker_loop(*args: Any, **kwargs: Any) -> None:
            if os.getpid() != self.pid:
                for fetcher in (_MapDatasetFetcher, _IterableDatasetFetcher):
                    self.patches.wrap(fetcher, "fetch", self.wrap)
                self.patches.wrap(ExceptionWrapper, "__init__", without_us)
            original(*args, **kwargs)

        return _worker_loop

    def wrap(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap fetch; adds one comparison a batch outside the first two of a worker."""

        @functools.wraps(original)
        def fetch(fetcher: Any, *args: Any, **kwargs: Any) -> Any:
            info = worker_info()
            if info is None or self.watch.fetches >= FETCHES:
                return original(fetcher, *args, **kwargs)
            if self.watch.fetches == 0:
                self.seen(fetcher, info.id)
            data = original(fetcher, *args, **kwargs)
            self.watch.fetches += 1
            self.seen(fetcher, info.id)
            return data

        return fetch

    @guarded("observers.data.worker_draws: worker")
    def seen(self, fetcher: Any, worker: int) -> None:
        """Called in the worker: compares, and writes down after the last comparison."""
        self.watch.compare_states(fetcher.dataset, getattr(fetcher, "collate_fn", None))
        if self.watch.fetches < FETCHES or self.memory is None:
            return
        paths = list(self.watch.draws)[:ROWS]
        start = os.getpid() % SLOTS * SLOT
        for place, path in enumerate(paths):
            row = (
                zlib.crc32(path.encode()),
                self.watch.before[path].digest,
                self.watch.last[path].digest,
                self.watch.draws[path],
            )
            ROW.pack_into(self.memory, start + HEAD.size + place * ROW.size, *row)
        HEAD.pack_into(self.memory, start, os.getpid(), worker, len(paths))

    def loader_iterated(self, info: LoaderInfo, iterator: Any) -> None:
        """Note a pass whose workers are about to start."""
        number = self.passes.get(info, 0)
        self.passes[info] = number + 1
        self.numbers.setdefault(info, len(self.numbers))
        if info.num_workers and number < PASSES:
            self.waiting[info] = (self.run.ref("load"), number, weakref.ref(iterator))

    def backward_begins(self, losses: list[Tensor]) -> None:
        """Note that the loader of the last batch is one of training."""
        if self.waiting and (batch := self.run.batches.last()) is not None:
            self.training.add(batch.loader)

    def fetched(self, batch: Batch, data: Any) -> None:
        """Read the workers when every one has fetched twice."""
        waiting = self.waiting.get(batch.loader)
        if waiting is not None and batch.number >= FETCHES * batch.loader.num_workers and batch.loader in self.training:
            self.read(batch.loader)

    def ended(self) -> None:
        """Read the passes that are still open."""
        for info in list(self.waiting):
            self.read(info)

    def read(self, info: LoaderInfo) -> None:
        """Read what the workers have written down."""
        ref, number, iterator = self.waiting.pop(info)
        loader: Any = info.loader()
        pids = [worker.pid for worker in getattr(iterator(), "_workers", ())]
        if loader is None or self.memory is None:
            return
        called = generators_called(loader.dataset, getattr(loader, "collate_fn", None))
        known = {held.path: held for held in [*called, *held_by(loader.dataset)]}
        names = {zlib.crc32(path.encode()): path for path in [*known, *("torch", "random", "numpy.random")]}
        rows: dict[str, list[DrawnBy]] = {}
        for worker, pid in enumerate(pids):
            for key, before, after, draws in self.rows_of(pid):
                if key in names and draws != NO:
                    rows.setdefault(names[key], []).append(
                        DrawnBy(worker=worker, before=before, after=after, draws=draws == YES)
                    )
        for path, drawn in rows.items():
            self.emit_shared(info, loader, ref, number, path, known.get(path), drawn)

    def rows_of(self, pid: int) -> Iterable[tuple[int, int, int, int]]:
        """The slot of one worker."""
        assert self.memory is not None
        start = pid % SLOTS * SLOT
        owner, _, count = HEAD.unpack_from(self.memory, start)
        return (
            [ROW.unpack_from(self.memory, start + HEAD.size + place * ROW.size) for place in range(count)]
            if owner == pid
            else []
        )

    def emit_shared(
        self,
        info: LoaderInfo,
        loader: Any,
        ref: StepRef,
        number: int,
        path: str,
        held: HeldGenerator | None,
        drawn: list[DrawnBy],
    ) -> None:
        """Emit one generator in all workers."""
        init = getattr(loader, "worker_init_fn", None)
        alike = len({d.before for d in drawn}) < len(drawn) or number > 0
        made: Frame | None = written_at(held) if held is not None and alike else None
        self.run.emit(
            WorkerDraws(
                ref=ref, loader=self.numbers.get(info, 0), frame=info.frame, made=made, epoch=number, path=path,
                kind=type(held.generator).__name__ if held is not None else "",
                stream=isinstance(loader.dataset, IterableDataset),
                persistent=bool(getattr(loader, "persistent_workers", False)),
                worker_init=defined_at(init) if init is not None else None, trains=info in self.training,
                drawn=tuple(drawn),
            )
        )  # fmt: skip
