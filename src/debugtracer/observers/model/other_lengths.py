"""Compares the lengths that rows are packed by with the zeros at their ends: are they those of the same rows?"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from debugtracer.callsites.frames import raw_frames
from debugtracer.callsites.line import first
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer
from debugtracer.trace.facts.other_lengths import OtherLengths

PACKS = "_pack_padded_sequence"
FEWEST = 4  # rows (ours)
MOST_NUMBERS = 1 << 22  # of a batch that is looked at (ours)
LOOKS = 4  # of a run (ours)
SHOWN = 6  # rows that are written down (ours)


class OtherLengthsObserver(Observer):
    """Reads the values of a batch in inspected steps, on the CPU alone, a few times in a run."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.looks = 0

    def reset(self) -> None:
        self.looks = 0

    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Look at a batch that is packed in training."""
        if getattr(function, "__name__", "") != PACKS or len(args) < 3 or not torch.is_grad_enabled():
            return
        given, lengths = args[0].detach(), args[1].detach()
        if given.dim() != 3 or given.device.type != "cpu" or given.numel() > MOST_NUMBERS:
            return
        self.looks += 1
        if self.looks >= LOOKS:
            self.run.unsubscribe(self.called)
        rows = given if args[2] else given.transpose(0, 1)
        ends = ends_of(rows)
        differ = int((ends != lengths).sum()) if is_shuffled(ends, lengths) else 0
        if differ:
            self.run.emit(
                OtherLengths(
                    ref=self.run.ref(), rows=len(ends), differ=differ, given=tuple(lengths[:SHOWN].tolist()),
                    ends=tuple(ends[:SHOWN].tolist()), frame=first(raw_frames(2)),
                )
            )  # fmt: skip


def ends_of(rows: Tensor) -> Tensor:
    """The last step of each row that holds anything but zeros, counted from 1."""
    steps = torch.arange(1, rows.shape[1] + 1, device=rows.device)
    return (rows.ne(0).any(2) * steps).amax(1)


def is_shuffled(ends: Tensor, lengths: Tensor) -> bool:
    """Whether both are the same numbers, not all one, in another order."""
    if len(ends) != len(lengths) or len(ends) < FEWEST or torch.equal(ends, lengths):
        return False
    return torch.equal(ends.sort().values, lengths.sort().values)
