"""Compares, on inspected steps, the input lengths of a CTC loss with its targets and with the frames it was given."""

from __future__ import annotations

import inspect
import itertools
import weakref
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from debugtracer.callsites.frames import RawFrames, frames_of, raw_frames
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.ctc_call import CtcCall

KEEPS = frozenset({"to", "long", "int", "cpu", "cuda", "clone", "contiguous", "detach", "view", "reshape", "clamp"})
"""Functions that hand lengths on: the line before them made the numbers."""
MOST_ROWS = 1024  # of a call that is looked at (ours)
MOST = 32  # tensors of lengths remembered of a step (ours)
CALLS = 64  # calls told in a run (ours)


class CtcLengthsObserver(Observer):
    """A few small lists for each call, in inspected steps alone; keeps no tensor."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.step, self.number = -1, 0
        self.made: dict[int, tuple[weakref.ref[Tensor], RawFrames]] = {}
        """id of a row of whole numbers -> the line that computed it; of the step in flight."""

    def reset(self) -> None:
        self.made.clear()

    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Remember who computed lengths; measure a CTC loss."""
        name = getattr(function, "__name__", "")
        if name == "ctc_loss":
            if torch.is_grad_enabled() and self.number < CALLS:
                self.measure(inspect.signature(F.ctc_loss).bind(*args, **kwargs).arguments)
        elif self.number < CALLS and is_row_of_numbers(output):
            self.note(args[0] if name in KEEPS and args else None, output)

    def note(self, source: Any, output: Tensor) -> None:
        """Remember the line of a row of whole numbers, or of the row that it is a copy of."""
        if self.step != self.run.step:
            self.step = self.run.step
            self.made.clear()
        if len(self.made) < MOST:
            self.made[id(output)] = weakref.ref(output), self.line(source) or raw_frames(2)

    def line(self, lengths: Any) -> RawFrames | None:
        """The line that computed a tensor; None where that is not known."""
        found = self.made.get(id(lengths))
        return found[1] if found is not None and found[0]() is lengths else None

    def measure(self, given: dict[str, Any]) -> None:
        """Emit how many rows of a batch have no alignment, and how far the lengths reach."""
        scores, long, wanted = given["log_probs"], given["input_lengths"], given["target_lengths"]
        if not isinstance(scores, Tensor) or scores.dim() != 3 or not 0 < scores.shape[1] <= MOST_ROWS:
            return
        lengths, counts = listed(long), listed(wanted)
        if not len(lengths) == len(counts) == scores.shape[1]:
            return
        rows = labels_of(given["targets"], counts)
        needed = [len(row) + sum(a == b for a, b in itertools.pairwise(row)) for row in rows]
        blank = given.get("blank", 0)
        raw = raw_frames(2)
        frames, made = frames_of(raw), self.line(long)
        self.number += 1
        self.run.emit(
            CtcCall(
                ref=self.run.ref(), number=self.number, rows=len(rows), frames=int(scores.shape[0]),
                impossible=sum(have < need for have, need in zip(lengths, needed, strict=True)),
                longest=max(lengths), zero_infinity=bool(given.get("zero_infinity", False)),
                blank=blank,
                # a loss for each row may leave some of them out
                blanks=sum(blank in row for row in rows) if given.get("reduction", "mean") != "none" else 0,
                frame=frames[0] if frames else None, made=first(made),
            )
        )  # fmt: skip


def is_row_of_numbers(output: Any) -> bool:
    """Whether a function gave what may be lengths."""
    whole = isinstance(output, Tensor) and output.dim() == 1 and output.dtype in (torch.int64, torch.int32)
    return whole and 0 < len(output) <= MOST_ROWS


def first(raw: RawFrames | None) -> Frame | None:
    """The innermost line of the user's."""
    frames = frames_of(raw) if raw is not None else ()
    return frames[0] if frames else None


def listed(lengths: Any) -> list[int]:
    """The lengths as numbers."""
    return [int(n) for n in (lengths.tolist() if isinstance(lengths, Tensor) else lengths)]


def labels_of(targets: Tensor, counts: list[int]) -> list[list[int]]:
    """The labels of each row: of padded rows, or of all rows one after the other."""
    if targets.dim() == 2:
        return [row[:count] for row, count in zip(targets.tolist(), counts, strict=True)]
    flat, rows, begin = targets.tolist(), [], 0
    for count in counts:
        rows.append(flat[begin : begin + count])
        begin += count
    return rows
