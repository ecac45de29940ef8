"""Patches DataLoader: each batch with the dataset index of each row (workers and samplers too) and the time waited for
it."""

from __future__ import annotations

import functools
import sys
import weakref
from collections.abc import Callable
from functools import partial
from time import perf_counter
from typing import Any

from torch.utils.data import DataLoader
from torch.utils.data.dataloader import _BaseDataLoaderIter

from debugtracer.callsites.caller import from_caller
from debugtracer.callsites.construction import built_at, calls_a_library
from debugtracer.errors import StoppedByTracer, guarded, swallow
from debugtracer.hooks.events.loop_events import LoopEvents
from debugtracer.hooks.events.training_thread import TrainingThread
from debugtracer.hooks.hook import AlwaysOn, Patches
from debugtracer.hooks.loading.loader_batch import (
    batch_of,
    info_of,
    info_of_iterator,
    late_batch,
    line_of_the_loader_rebuilt,
    number_of,
    worker_info,
)
from debugtracer.hooks.loading.loader_feed import ITERABLE, LoaderFeed
from debugtracer.hooks.loading.pass_events import PassEvents
from debugtracer.recorder.listeners import PassListener, SampleFilter
from debugtracer.recorder.run_state import RunState
from debugtracer.recorder.state.identity import ById
from debugtracer.recorder.state.leaves import leaves_of, rows_of
from debugtracer.recorder.tape.batches import Batch, BatchLog, LoaderInfo
from debugtracer.recorder.tape.mode_stack import ModeStack


class LoaderHook(AlwaysOn):
    """Patches DataLoader and its iterators on install(), restores them on remove(); inert in DataLoader workers.

    The user's dataset and collate code runs without our function mode, and a module called there (a transform) is no
    root call. No event may raise into the loop, but for the
    stop of mode dev."""

    def __init__(
        self,
        events: LoopEvents,
        log: BatchLog,
        stack: ModeStack,
        state: RunState,
        thread: TrainingThread,
        passes: PassListener | None,
        samples: SampleFilter | None,
        gives_again: bool = True,
    ) -> None:
        """Tell `passes` of each pass, in the modes that keep its place or go on from it; `samples` drops some.
        `gives_again`: a bad batch may be handed out once more, so each is told of, at rest too."""
        self.events, self.log, self.stack, self.state, self.thread = events, log, stack, state, thread
        self.passes, self.samples, self.gives_again = PassEvents(passes), samples, gives_again
        self.on = False
        self._patches, self._fetches = Patches(), Patches()
        self._rest = False
        """Fetches are left to torch."""
        self._loaders: dict[int, LoaderInfo] = {}
        self._feeds: ById[Any, LoaderFeed] = ById()

    def install(self) -> None:
        """Start listening; a second call does nothing."""
        if self.on:
            return
        self.on = True
        self._patches.wrap(DataLoader, "__init__", self._wrap_loader_init)
        self._patches.wrap(DataLoader, "__iter__", self._wrap_loader_iter)
        self._patches.wrap(_BaseDataLoaderIter, "__init__", self._wrap_iterator_init)
        self._fetches.wrap(_BaseDataLoaderIter, "_next_index", self._wrap_next_index)
        self._fetches.wrap(_BaseDataLoaderIter, "__next__", self._wrap_next)

    def remove(self) -> None:
        """Stop listening; every patched function is the original again."""
        self.rest_fetches(False)
        self.on = False
        self._fetches.undo()
        self._patches.undo()
        self._feeds.clear()

    def rest_fetches(self, rests: bool) -> None:
        """Leave fetches to torch, or see them again; not where somebody chooses what is fetched, or wants it once more.
        What was drawn meanwhile is not known."""
        chosen = self.gives_again or self.passes.listener is not None or self.samples is not None
        if rests == self._rest or (rests and chosen):
            return
        self._rest = rests
        for feed in self._feeds.values():
            feed.rest()
        self._fetches.lift(rests)

    def info(self, loader: Any) -> LoaderInfo:
        """What is known of a loader; made on the spot (without a line) when it was built before we listened."""
        known = self._loaders.get(id(loader))
        return known if known is not None and known.loader() is loader else self._enter(loader)

    def _enter(self, loader: Any) -> LoaderInfo:
        key, loaders = id(loader), self._loaders
        info = info_of(loader, weakref.ref(loader, lambda _: loaders.pop(key, None)))
        loaders[key] = info
        return info

    @guarded("hooks.loader: DataLoader()")
    def _built(self, loader: Any, caller: Any) -> None:
        frame = built_at(caller, loader)
        if calls_a_library(caller, loader):
            frame = line_of_the_loader_rebuilt(list(self._loaders.values()), loader) or frame
        self._enter(loader).frame = frame

    def _wrap_loader_init(self, original: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(original)
        def __init__(loader: Any, /, *args: Any, **kwargs: Any) -> None:
            from_caller()(original, (loader, *args), kwargs)  # a warning is filed under the line that builds it
            if self.on and worker_info() is None:
                self._built(loader, sys._getframe(1))

        return __init__

    def _wrap_loader_iter(self, original: Callable[[Any], Any]) -> Callable[[Any], Any]:
        @functools.wraps(original)
        def __iter__(loader: Any) -> Any:
            if not self.on or worker_info() is not None:
                return original(loader)
            self.passes.begins(loader)
            with self.stack.paused():  # draws seeds and, with workers, the first indices
                iterator = original(loader)
            self.passes.begun(loader, iterator)
            return iterator

        return __iter__

    def _wrap_iterator_init(self, original: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(original)
        def __init__(iterator: Any, /, loader: Any, *args: Any, **kwargs: Any) -> None:
            if self.on and worker_info() is None:
                self._begin(iterator, loader)
            from_caller()(original, (iterator, loader, *args), kwargs)
            if self.on and worker_info() is None:
                self._iterated(iterator, loader)

        return __init__

    @guarded("hooks.loader: iter(DataLoader)")
    def _begin(self, iterator: Any, loader: Any) -> None:
        feed = self._feeds[iterator] = LoaderFeed(self.info(loader))
        if self._rest:
            feed.rest()
            return
        # a class of the user's may change what the sampler drew; the outermost wrapper comes last
        for owner in type(iterator).__mro__:
            if "_next_index" in vars(owner) and not getattr(vars(owner)["_next_index"], "_debugtracer", False):
                self._fetches.wrap(owner, "_next_index", self._wrap_next_index)

    @guarded("hooks.loader: epoch")
    def _iterated(self, iterator: Any, loader: Any) -> None:
        info = self.info(loader)
        info.iterated(iterator)
        self.events.loader_iterated(info, iterator)

    def _wrap_next_index(self, original: Callable[[Any], Any]) -> Callable[[Any], Any]:
        @functools.wraps(original)
        def _next_index(iterator: Any) -> Any:
            index = original(iterator)
            if self.on:
                if self.samples is not None and self.samples.active and worker_info() is None:
                    index = self._replaced(iterator, index) or index
                self._drawn(iterator, index)
            return index

        _next_index._debugtracer = True  # type: ignore[attr-defined]
        return _next_index

    @guarded("hooks.loader: samples")
    def _replaced(self, iterator: Any, index: Any) -> Any:
        return self.samples.replaced(iterator, index) if self.samples is not None else index

    @guarded("hooks.loader: a batch is looked at")
    def _drops(self, data: Any) -> bool:
        return self.samples is not None and self.samples.drops(data)

    def _drawn(self, iterator: Any, index: Any) -> None:
        try:
            feed = self._feeds.get(iterator)
            if feed is not None:
                feed.drawn(iterator, index)
        except Exception as error:
            swallow("hooks.loader: indices", error)

    def _wrap_next(self, original: Callable[[Any], Any]) -> Callable[[Any], Any]:
        @functools.wraps(original)
        def __next__(iterator: Any) -> Any:
            if not self.on or worker_info() is not None:
                return original(iterator)
            if self.passes.listener is not None and self.passes.ends(iterator):
                raise StopIteration
            data = self._given(original, iterator)
            while self.samples is not None and self.samples.screens and self._drops(data):
                data = self._given(original, iterator)
            return data

        return __next__

    def _given(self, original: Callable[..., Any], iterator: Any) -> Any:
        if self.events.rests():
            return self._next_at_rest(original, iterator)
        self._ahead()
        repeated = self._again(iterator)
        if repeated is not None:
            return repeated[0]
        with self.stack.paused():
            data, batch = self._fetch(original, iterator)
        self._fetched(batch, data)
        self.events.handed_out(iterator, data)
        return data

    def _next_at_rest(self, original: Callable[[Any], Any], iterator: Any) -> Any:
        """Fetch while all rests: our function mode is on no stack and no incident waits for a batch. In few functions:
        each further one costs a microsecond where a step of training has emptied the caches."""
        state = self.state
        data, waited = self._timed(original, iterator)
        fetched = perf_counter()
        try:
            state.fetched()
            feed = self._feeds.get(iterator)
            if feed is None or getattr(iterator, "_dataset_kind", 0) == ITERABLE:  # a stream counts its rows at once
                self._note(iterator, data, waited)
            else:
                drawn = feed.take_drawn(iterator)
                number = getattr(iterator, "_num_yielded", 1) - 1
                self.log.add_late(data, partial(late_batch, feed, drawn, data, number, waited))
            if self.gives_again:
                self.events.handed_out(iterator, data)
        except StoppedByTracer:
            raise
        except Exception as error:
            swallow("hooks.loader: late batch", error)
        state.own_s += perf_counter() - fetched
        return data

    def _fetch(self, original: Callable[[Any], Any], iterator: Any) -> tuple[Any, Batch | None]:
        data, waited = self._timed(original, iterator)
        return data, self._note(iterator, data, waited)

    def _timed(self, original: Callable[[Any], Any], iterator: Any) -> tuple[Any, float]:
        root = self.state.open_root
        hides = self.thread.likely() and root.begin_fetch()
        start = perf_counter()
        try:
            data = original(iterator)
        except BaseException:
            self.state.wait_s += perf_counter() - start
            self._failed(iterator)
            raise
        finally:
            if hides:
                root.end_fetch()
        waited = perf_counter() - start
        self.state.wait_s += waited
        return data, waited

    @guarded("hooks.loader: again")
    def _again(self, iterator: Any) -> tuple[Any] | None:
        return self.events.again(iterator)

    @guarded("hooks.loader: before_fetch")
    def _ahead(self) -> None:
        self.events.next_fetch()

    @guarded("hooks.loader: on_fetch")
    def _fetched(self, batch: Batch | None, data: Any) -> None:
        if batch is not None:
            self.events.fetched(batch, data)

    @guarded("hooks.loader: failed fetch")
    def _failed(self, iterator: Any) -> None:
        feed = self._feeds.get(iterator)
        if feed is not None:
            self.log.failed = feed.info, feed.take_drawn(iterator)

    @guarded("hooks.loader: batch")
    def _note(self, iterator: Any, data: Any, waited: float) -> Batch:
        feed = self._feeds.get(iterator)
        if feed is None:  # an iterator older than us: its loader is not known, what it drew before neither
            feed = self._feeds[iterator] = LoaderFeed(info_of_iterator(iterator), late=True)
        leaves = leaves_of(data)
        fetched = feed.indices(iterator, lambda expected: rows_of(data, leaves, expected))
        batch = batch_of(feed.info, fetched, number_of(iterator), waited, leaves)
        self.log.add(batch)
        return batch
