"""Writes of the loop itself into the tensors that it trains: which call, at which line, and what made the value."""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from debugtracer.recorder.state.weak import WeakRef

MOST = 4096  # tensors of one segment whose last write is kept (ours)


@dataclass
class OwnWrite:
    """The last write of the loop into one tensor, in one segment."""

    tensor: weakref.ref[Tensor]
    function: str
    """The call that wrote, as torch names it."""
    frames: Any
    """Raw user frames of the call."""
    replayed: bool
    """The call is on the tape, so a replay executes it too."""
    source: Any = None
    """Raw user frames of the call that made the value, where the tape knows it."""


class OwnWrites:
    """One per segment. A write costs the frames of its line, and no tensor is touched."""

    def __init__(self) -> None:
        self.last: dict[int, OwnWrite] = {}
        self.of_trained = False
        """Some tensor had a gradient when it was written: this is an update."""

    def note(self, tensor: Tensor, function: str, frames: Any, replayed: bool, source: Any = None) -> None:
        """Keep a write into a leaf that requires grad."""
        if not (tensor.requires_grad and tensor.is_leaf) or len(self.last) >= MOST:
            return
        self.of_trained = self.of_trained or tensor.grad is not None
        self.last[id(tensor)] = OwnWrite(WeakRef(tensor), function, frames, replayed, source)

    def all(self) -> list[tuple[Tensor, OwnWrite]]:
        """The tensors that are still alive, each with its last write."""
        pairs = [(write.tensor(), write) for write in self.last.values()]
        return [(tensor, write) for tensor, write in pairs if tensor is not None]

    def not_replayed(self) -> OwnWrites:
        """The same writes for a segment that starts after them."""
        for write in self.last.values():
            write.replayed = False
        return self
