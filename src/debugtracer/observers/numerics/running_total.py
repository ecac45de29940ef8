"""Follows running totals of single half-precision values through an inspected step and adds them up a second time in
float32."""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer

from debugtracer.callsites.frames import RawFrames, frames_of, raw_frames
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected, of_functions
from debugtracer.recorder.state.weak import WeakRef
from debugtracer.recorder.tape.entry import HALF
from debugtracer.trace.facts.half_reduction import RunningTotal
from debugtracer.trace.number import number

ADDITIONS = frozenset({"add", "add_", "__add__", "__iadd__", "__radd__"})
MOST_TOTALS = 64  # followed in one step (ours)


@dataclass
class RunningSum:
    """One running total: which tensor holds it now, and copies of its numbers on their device."""

    raw: RawFrames
    dtype: str
    now: weakref.ref[Tensor]
    before: Tensor
    wide: Tensor
    after: Tensor
    added: Tensor
    adds: int = 0
    graph: bool = False


class RunningTotalObserver(Observer):
    """Numbers stay on the device until the update is over: one host sync for all totals."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.totals: dict[int, RunningSum] = {}

    def reset(self) -> None:
        self.totals.clear()

    @of_functions(ADDITIONS)
    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Take an addition whose result is one half-precision value."""
        if getattr(function, "__name__", "") not in ADDITIONS or len(args) != 2 or kwargs:
            return
        if isinstance(output, Tensor) and output.dtype in HALF and output.numel() == 1 and isinstance(args[0], Tensor):
            with torch.no_grad():
                self.added(args[0], args[1], output)

    def added(self, left: Tensor, right: Any, output: Tensor) -> None:
        """Add the next value of a total that is known, or the first of another."""
        if self.of(left) is None and self.of(right) is not None:
            left, right = right, left
        extra, raw = scalar(right, output), raw_frames()[:1]
        known = self.of(left)
        if extra is None or left.numel() != 1 or (known is None and len(self.totals) >= MOST_TOTALS):
            return
        if known is None or known.raw != raw:
            # in place: what it was before is gone, the total begins here
            begin = left.detach().float().reshape(()).clone()
            known = RunningSum(
                raw,
                str(output.dtype).removeprefix("torch."),
                WeakRef(output),
                begin,
                begin if left is output else begin + extra,
                begin,
                extra,
            )
        else:
            self.totals.pop(id(left), None)
            known.wide = known.wide + extra
        known.now, known.added = WeakRef(output), extra
        known.after, known.adds, known.graph = (
            output.detach().float().reshape(()).clone(),
            known.adds + 1,
            output.requires_grad,
        )
        self.totals[id(output)] = known

    def of(self, value: Any) -> RunningSum | None:
        """The total that this very tensor holds."""
        known = self.totals.get(id(value)) if isinstance(value, Tensor) else None
        return known if known is not None and known.now() is value else None

    @inspected
    def step_closed(self, optimizer: Optimizer) -> None:
        """Read the totals of the update and emit them."""
        totals, self.totals = list(self.totals.values()), {}
        if not self.run.inspecting or not totals:
            return
        with torch.no_grad():
            read = torch.stack(
                [torch.stack([t.before, t.added, t.after, t.wide]).double().cpu() for t in totals]
            ).tolist()
        for total, (before, extra, after, wide) in zip(totals, read, strict=True):
            frame = next(iter(frames_of(total.raw)), None)
            numbers = {"before": number(before), "added": number(extra), "after": number(after), "wide": number(wide)}
            self.run.emit(
                RunningTotal(
                    ref=self.run.ref("update"),
                    frame=frame,
                    dtype=total.dtype,
                    adds=total.adds,
                    graph=total.graph,
                    **numbers,
                )
            )


def scalar(value: Any, like: Tensor) -> Tensor | None:
    """Convert one value to float32 on the same device; None for anything else."""
    if isinstance(value, Tensor):
        return value.detach().float().reshape(()) if value.numel() == 1 and value.device == like.device else None
    return torch.full((), float(value), device=like.device) if isinstance(value, (int, float)) else None
