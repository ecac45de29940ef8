"""Looks in evaluations for answers and labels that are compared in pairs: (B, 1) with (B,)."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from debugtracer.callsites.frames import RawFrames, frames_of, raw_frames
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer
from debugtracer.trace.facts.loss_call import COMPARISONS, ERRORS, LossCall

MOST = 8  # lines that are told (ours)
ROWS = 3  # at least (ours: a batch of two may be anything)


class StretchedComparisonsObserver(Observer):
    """Reads shapes, of comparisons without a graph alone."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.told: set[RawFrames] = set()

    def reset(self) -> None:
        self.told.clear()

    def scored(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Emit a line that compares a column with as many values of another tensor, or subtracts them, once."""
        name = function.__name__
        if not (name in COMPARISONS or name in ERRORS) or len(self.told) >= MOST or not is_stretched(*args[:2]):
            return
        # two stored vectors may be meant in pairs; a column of answers and the targets of a batch are not
        if name in ERRORS and not any(value.dim() == 1 and self.run.batches.find(value) for value in args[:2]):
            return
        raw = raw_frames(2)
        if raw in self.told:
            return
        self.told.add(raw)
        frames, (one, other) = frames_of(raw), args[:2]
        loss = "eq" if name in COMPARISONS else "sub"
        self.run.emit(
            LossCall(
                ref=self.run.ref(), loss=loss, frame=frames[0] if frames else None, input_shape=tuple(one.shape),
                input_dtype=str(one.dtype).removeprefix("torch."), input_grad=False, target_shape=tuple(other.shape),
                target_dtype=str(other.dtype).removeprefix("torch."), broadcast=True,
            )
        )  # fmt: skip


def is_stretched(one: Tensor, other: Tensor) -> bool:
    """Whether one is a column, no view that was made one on purpose, and the other as many values of its own."""
    column, row = (one, other) if one.dim() > other.dim() else (other, one)
    if column.dim() != 2 or row.dim() != 1 or column.shape != (len(row), 1) or len(row) < ROWS:
        return False
    return column._base is None and column.data_ptr() != row.data_ptr()
