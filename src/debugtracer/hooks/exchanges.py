"""Writes down, before each all_to_all, what this rank sends to each other and what it expects of each: a process that
is aborted in it, or hangs, cannot say so any more."""

from __future__ import annotations

import functools
import inspect
import os
from collections import Counter, deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch.distributed as dist
from torch import Tensor

from debugtracer.callsites.frames import frames_of, raw_frames
from debugtracer.errors import guarded
from debugtracer.hooks.hook import Patches, Switch
from debugtracer.trace.exchange import KEPT, LAST_EXCHANGES, MOST_RANKS, Exchange, as_text

ROOM = 4096  # bytes of the file, written anew by each call
SINGLE, LISTS = "all_to_all_single", "all_to_all"
Sizes = tuple[int, ...]


class ExchangesHook(Switch):
    """Two functions of torch.distributed; some microseconds a call. The file comes with the first one."""

    def __init__(self, folder: Callable[[], Path | None]) -> None:
        super().__init__()
        self.folder, self.patches = folder, Patches()
        self.last: deque[Exchange] = deque(maxlen=KEPT)
        self.counts: Counter[Sizes] = Counter()
        """Calls so far, by the ranks of the group."""
        self.fd = -1
        """Never closed: the file is written to until the process is gone."""
        self.process = os.getpid()

    def install(self) -> None:
        """Patch both, where torch has them."""
        for name in (SINGLE, LISTS) if dist.is_available() else ():
            self.patches.wrap(dist, name, self.wrap)

    def remove(self) -> None:
        self.patches.undo()

    def wrap(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Note the sizes of a call, then make it."""
        signature = inspect.signature(original)

        @functools.wraps(original)
        def exchange(*args: Any, **kwargs: Any) -> Any:
            if not self.off:
                self.note(original.__name__, signature, args, kwargs)
            return original(*args, **kwargs)

        return exchange

    @guarded("hooks.exchanges")
    def note(self, call: str, signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Write the last calls down; it is with the operating system when this returns."""
        if self.process != os.getpid():  # a forked child
            self.process, self.fd = os.getpid(), -1
            self.last.clear()
            self.counts.clear()
        given = signature.bind(*args, **kwargs).arguments
        ranks = tuple(dist.get_process_group_ranks(given.get("group") or dist.group.WORLD))
        number = self.counts[ranks]
        self.counts[ranks] += 1
        if len(ranks) > MOST_RANKS:
            return
        sent, received = (sizes_of_tensors if call == SINGLE else sizes_of_lists)(len(ranks), given)
        frames = frames_of(raw_frames(3))
        file, line = (frames[0].file, frames[0].line) if frames else ("", 0)
        self.last.append(Exchange(number, call, sent, received, ranks, file, line))
        folder = self.folder()
        if self.fd < 0 and folder is not None:
            self.fd = os.open(folder / LAST_EXCHANGES, os.O_CREAT | os.O_WRONLY, 0o644)
        if self.fd >= 0:
            os.pwrite(self.fd, as_text(self.last).encode()[:ROOM].ljust(ROOM, b"\0"), 0)


def sizes_of_tensors(world: int, given: Mapping[str, Any]) -> tuple[Sizes, Sizes]:
    """The elements that are sent to each rank, and expected of each."""
    sides = ("input", "output")
    sent, received = (split(given[side], given.get(f"{side}_split_sizes"), world) for side in sides)
    return sent, received


def split(tensor: Tensor, rows: Any, world: int) -> Sizes:
    """The elements of the parts of a tensor; rows by number, or parts of one size."""
    each = tensor.numel() // tensor.shape[0] if tensor.dim() and tensor.shape[0] else 0
    return tuple(int(n) * each for n in rows) if rows else (tensor.numel() // world,) * world


def sizes_of_lists(world: int, given: Mapping[str, Any]) -> tuple[Sizes, Sizes]:
    """The same of lists of tensors."""
    sent, received = (tuple(t.numel() for t in given[f"{side}_tensor_list"]) for side in ("input", "output"))
    return sent, received
