"""Values that code changes in place: plain tensors, numpy arrays, generators of its own. Copied before a replay, put
back after it."""

from __future__ import annotations

import random
import sys
import threading
from collections.abc import Callable
from functools import partial
from io import IOBase
from typing import Any

import torch
from torch import Tensor, nn

MOST_BYTES = 1024**3  # of tensors and arrays copied for one replay (ours; parameters and buffers are copied elsewhere)
QUEUES = frozenset({"queue", "_queue", "multiprocessing.queues", "torch.multiprocessing.queue", "asyncio.queues"})


class InPlace:
    """Copies of values, and how each is restored."""

    def __init__(self) -> None:
        self.tensors: list[tuple[Tensor, Tensor]] = []
        """(tensor, copy)."""
        self.undo: list[Callable[[], object]] = []
        self.seen: dict[int, Any] = {}
        self.nbytes = 0

    def keep(self, value: Any) -> None:
        """Copy one value, if it is one of these and was not met before."""
        if id(value) in self.seen:
            return
        if type(value) in (Tensor, nn.Buffer):
            self.tensor(value)
        elif isinstance(value, torch.Generator):
            self.generator(value)
        elif isinstance(value, random.Random):
            self.remember(value, partial(value.setstate, value.getstate()))
        elif "numpy" in sys.modules:
            self.numpy(value)

    def remember(self, value: Any, undo: Callable[[], object]) -> None:
        """Remember how a value is restored; the object is held so that its id stays its own."""
        self.seen[id(value)] = value
        self.undo.append(undo)

    def tensor(self, value: Tensor) -> None:
        """Copy a dense tensor that is no parameter."""
        if (
            value.layout is torch.strided
            and not value.is_inference()
            and not value.is_quantized
            and self.room(value.nbytes)
        ):
            self.seen[id(value)] = value
            self.tensors.append((value, value.detach().clone()))

    def generator(self, value: torch.Generator) -> None:
        """Copy the state of a generator that the program made itself."""
        self.remember(value, partial(value.set_state, value.get_state()))

    def numpy(self, value: Any) -> None:
        """Copy arrays of numbers and the state of numpy's generators."""
        np = sys.modules["numpy"]
        if isinstance(value, np.ndarray):
            if value.dtype != object and value.flags.writeable and self.room(value.nbytes):
                self.remember(value, partial(np.copyto, value, value.copy()))
        elif isinstance(value, np.random.Generator):
            self.remember(value, partial(setattr, value.bit_generator, "state", value.bit_generator.state))
        elif isinstance(value, np.random.RandomState):
            self.remember(value, partial(value.set_state, value.get_state()))

    def room(self, nbytes: int) -> bool:
        """Whether so many bytes more may be copied."""
        self.nbytes += nbytes
        return self.nbytes <= MOST_BYTES

    def restore(self) -> None:
        """Restore everything but the tensors, which the world restores with those it holds itself."""
        for undo in self.undo:
            undo()


def cannot_go_back(value: Any) -> str:
    """What kind of thing it is, where using it once more cannot be undone and may wait for ever; empty for everything
    else."""
    kind = type(value)
    if kind.__module__ in QUEUES and hasattr(kind, "get"):
        return "a queue"
    if isinstance(value, LOCKS) and value.locked():
        return "a lock that is held"
    if hasattr(kind, "__next__") and not isinstance(value, IOBase) and iter_of(value) is value:
        return "an iterator"
    return ""


def iter_of(value: Any) -> Any:
    """What iter() gives, without calling code of the user."""
    return value if type(value).__module__ in ("builtins", "itertools", "torch.utils.data.dataloader") else None


LOCKS = (type(threading.Lock()),)
