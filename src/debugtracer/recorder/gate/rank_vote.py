"""Ranks agree before an update through keys of the c10d store: a collective on the user's group could hang a failing
job."""

from __future__ import annotations

import datetime
import itertools
from collections.abc import Callable, Iterable
from time import monotonic, sleep
from typing import Any, TypeVar

import torch
from torch import nn

from debugtracer.recorder.state.sharded import holds_shards

T = TypeVar("T")
Wait = Callable[[Any, str, float], None]
PATIENCE_S = 20.0  # seconds the others are waited for at a gate; they have just met in the backward (ours)
WRAPPERS = ("DistributedDataParallel", "FullyShardedDataParallel")
WORK_S = 120.0  # seconds a rank that looks into a fault is waited for (ours: trials take 30 at most, a verdict seconds)
LOOK_S = 0.05  # seconds between two looks at a key that is waited for that long: Ctrl-C is heard (ours)
MARGIN_S = 30.0  # seconds beside those of a person that the word of rank 0 may take (ours)


class RankVote:
    """One per process. After an answer that did not come the ranks no longer ask each other."""

    def __init__(self, work_s: float = WORK_S) -> None:
        """Take the seconds that a rank which is at work is waited for."""
        self.work_s = work_s
        self.number = itertools.count()
        self.off = ""
        """Why no questions are asked any more; empty while they are."""

    def ask(self, bits: Iterable[bool], patience_s: float = PATIENCE_S) -> tuple[int, ...] | None:
        """How many ranks said yes to each question; None when some rank did not come in time. Every rank must call this
        as often, in the same order."""
        bits = tuple(bits)
        return self.answer(lambda n: self.counted(f"vote/{n}", bits, at_once, patience_s), patience_s)

    def ask_after_work(self, bits: Iterable[bool]) -> tuple[int, ...] | None:
        """The same where some ranks look into a fault meanwhile; one that is dead or takes too long is left behind."""
        bits, long_s = tuple(bits), self.work_s
        return self.answer(lambda n: self.counted(f"vote/{n}", bits, until, long_s), long_s)

    def word_of_first(self, seconds: float, wait: Callable[[float], str]) -> str | None:
        """The word that rank 0 gets by waiting so many seconds for it (0: it gets none, `stop`); the others wait for
        rank 0, whatever they could wait for themselves. None when it did not come in time. Asked like a vote."""
        return self.answer(lambda number: self.told(self.store(), f"word/{number}", seconds, wait), self.work_s)

    def common(self, numbers: Iterable[int], patience_s: float = PATIENCE_S) -> frozenset[int] | None:
        """The numbers that every rank has; None when some rank did not come in time. Asked like a vote."""
        own = tuple(numbers)
        return self.answer(lambda number: self.shared(self.store(), f"numbers/{number}", own, patience_s), patience_s)

    def answer(self, question: Callable[[int], T], patience_s: float) -> T | None:
        """What comes of the next question, by its number; None, for good, once some rank did not come in time."""
        if self.off:
            return None
        try:
            return question(next(self.number))
        except Exception as error:  # what a store raises differs by kind and version
            self.off = f"the other ranks did not answer at a gate within {patience_s:.0f} s ({type(error).__name__})"
            return None

    def shared(self, store: Any, key: str, own: tuple[int, ...], patience_s: float) -> frozenset[int]:
        """Write down the own numbers, and take what all ranks have in common."""
        dist: Any = torch.distributed
        keys = [f"{key}/{rank}" for rank in range(dist.get_world_size())]
        store.set(keys[dist.get_rank()], ",".join(map(str, own)) or ",")
        store.wait(keys, datetime.timedelta(seconds=patience_s))
        each = [{int(word) for word in store.get(key).decode().split(",") if word} for key in keys]
        return frozenset.intersection(*map(frozenset, each))

    def told(self, store: Any, key: str, seconds: float, wait: Callable[[float], str]) -> str:
        """Wait for the word, or for the rank that does."""
        if torch.distributed.get_rank():
            until(store, f"{key}/seconds", self.work_s)
            until(store, f"{key}/word", float(store.get(f"{key}/seconds")) + MARGIN_S)
            return str(store.get(f"{key}/word").decode())
        store.set(f"{key}/seconds", str(seconds))
        word = "stop"
        try:
            word = wait(seconds) if seconds else word
        finally:
            store.set(f"{key}/word", word)
        return word

    def counted(self, key: str, bits: tuple[bool, ...], wait: Wait, patience_s: float) -> tuple[int, ...]:
        """Count the votes in three round trips: the last rank to come writes the sums down."""
        store = self.store()
        for n, bit in enumerate(bits):
            if bit:
                store.add(f"{key}/{n}", 1)
        if store.add(f"{key}/here", 1) == torch.distributed.get_world_size():
            store.set(f"{key}/sums", ",".join(str(store.add(f"{key}/{n}", 0)) for n in range(len(bits))))
        wait(store, f"{key}/sums", patience_s)
        return tuple(int(word) for word in store.get(f"{key}/sums").decode().split(","))

    def store(self) -> Any:
        """A corner of the store that the default process group was made with."""
        from torch.distributed.distributed_c10d import _get_default_store

        dist: Any = torch.distributed
        return dist.PrefixStore("debug-tracer", _get_default_store())


def at_once(store: Any, key: str, patience_s: float) -> None:
    """Wait until a key is there, without a moment's delay. Raises what a store raises."""
    store.wait([key], datetime.timedelta(seconds=patience_s))


def until(store: Any, key: str, patience_s: float) -> None:
    """Wait until a key is there, in short looks: signals are heard. Raises TimeoutError, or what a store without its
    host raises."""
    end = monotonic() + patience_s
    while not store.check([key]):
        if monotonic() > end:
            raise TimeoutError
        sleep(LOOK_S)


def trains_together(modules: Iterable[nn.Module]) -> bool:
    """True if the backward of these modules waits for every rank of the default group, so that all meet at each
    step."""
    dist = torch.distributed
    if not dist.is_available() or not dist.is_initialized() or dist.get_world_size() < 2:
        return False
    found: list[Any] = list(modules)
    whole = any(type(m).__name__ in WRAPPERS and m.process_group.size() == dist.get_world_size() for m in found)
    return whole or (
        holds_shards(found)
        and all(
            mesh_size(p) == dist.get_world_size() for m in found for p in m.parameters() if hasattr(p, "device_mesh")
        )
    )


def mesh_size(parameter: Any) -> int:
    """The number of ranks that hold a part of a sharded parameter."""
    return int(parameter.device_mesh.size())
