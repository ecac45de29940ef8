"""Finds masks of an integer type among the indices of inspected steps."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from debugtracer.callsites.frames import RawFrames, frames_of, raw_frames
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, of_functions
from debugtracer.trace.facts.mask_index import MaskIndex

FEWEST = 16  # rows of a mask that is told (ours: fewer may be classes by chance)
WHOLE = frozenset({torch.int64, torch.int32, torch.int16, torch.int8})


class MaskIndicesObserver(Observer):
    """Reads the least and the largest of an index that is as long as what it indexes; nothing of others."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.told: set[RawFrames] = set()

    def reset(self) -> None:
        self.told.clear()

    @of_functions(("__getitem__", "__setitem__"))
    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Emit an index that is a mask."""
        name = getattr(function, "__name__", "")
        if name not in ("__getitem__", "__setitem__") or len(args) < 2:
            return
        mask = index_of(args[0], args[1])
        if mask is None or (at := raw_frames(1)[:1]) in self.told or not at:
            return
        with torch.no_grad():
            low, high, ones = torch.stack([mask.min(), mask.max(), mask.sum()]).tolist()
        if (low, high) == (0, 1):
            self.told.add(at)
            self.run.emit(
                MaskIndex(
                    ref=self.run.ref(), frame=frames_of(at)[0], dtype=str(mask.dtype).removeprefix("torch."),
                    rows=mask.numel(), ones=int(ones), writes=name == "__setitem__",
                )
            )  # fmt: skip


def index_of(indexed: Any, index: Any) -> Tensor | None:
    """The one tensor of whole numbers that has the shape of what it indexes; None for others."""
    if isinstance(index, tuple) and len(index) == 1:
        index = index[0]
    if not isinstance(index, Tensor) or not isinstance(indexed, Tensor) or index.dtype not in WHOLE or not index.dim():
        return None
    fits = indexed.dim() >= index.dim() and indexed.shape[: index.dim()] == index.shape
    return index if fits and index.shape[0] > 2 and index.numel() >= FEWEST else None
