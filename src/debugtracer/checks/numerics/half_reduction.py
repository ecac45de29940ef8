"""Are sums of many half-precision values still right?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.half_reduction import HalfReduction as Reduced
from debugtracer.trace.facts.half_reduction import RunningTotal
from debugtracer.trace.finding import Finding
from debugtracer.trace.number import as_float
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class HalfReduction(Check, frozen=True):
    """A sum in float16 or bfloat16 differs from the same sum in float32.

    What it catches
        A running total of losses or counts in half precision (bfloat16 stands still from 256 additions of 1 on, float16
        from 2048), sums and means that pass 65504, a logsumexp over more than 65504 values in float16.
    Why it matters
        What is added to a large total is rounded away: mean losses, norms and metrics come out too small; the overflow
        is the next NaN.
    How it decides
        On inspected steps a reduction over more than 4096 elements is done a second time in float32: told above
        `error`, or when it is infinite and the one in float32 is not. torch adds a plain sum, mean, norm or variance up
        in float32 inside and rounds once, on CPU and GPU, so most such calls are right and nothing is said. Of a
        running total `adds` additions in one step are compared in the same way; one that grows from step to step is
        told when it is the same in two inspected steps at least `apart` apart while something is still added. A note.
    What to do
        Add up in float32: `x.sum(dtype=torch.float32)`, `total += loss.item()`, `x.float()` before the reduction.
    Example
        step 300, rank 0: `total += loss` (bfloat16) stands still at 512 since step 200: 1.2 is added and nothing
        changes; expected it to grow. Add up in float32, e.g. total += loss.item().
    """

    needs: ClassVar[tuple[type[Reduced] | type[RunningTotal], ...]] = (Reduced, RunningTotal)
    kind: ClassVar[str] = "half_accumulation"
    confidence: ClassVar[float] = 0.5
    remedies: ClassVar[tuple[str, ...]] = (
        "add up in float32: x.sum(dtype=torch.float32) or total += loss.item()",
        "call .float() before the reduction",
    )
    proved_by: ClassVar[str] = "numerics/mean_loss_bf16"

    error: float = 0.01  # share of the result in float32 (ours: bfloat16 itself rounds at 0.004)
    adds: int = 16  # additions of one step that make a running total (ours)
    apart: int = 10  # steps between two looks at one total (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Judge each new measurement; yield once a line for each thing that is wrong."""
        memory = window.memory(self)
        for call in window.new(Reduced):
            if (call.overflows or call.error > self.error) and ("call", call.key()) not in memory:
                memory["call", call.key()] = True
                yield self.reduced(window, call)
        for total in window.new(RunningTotal):
            if ("told", total.key()) not in memory:
                yield from self.total(window, total, memory)

    def reduced(self, window: Window, call: Reduced) -> Finding:
        """Build the finding of one reduction, with its error against float32."""
        what = (
            f"overflows to {call.value}"
            if call.overflows
            else f"is {as_float(call.value):.4g}, off by {call.error:.1%}"
        )
        return self.finding(
            window,
            "note",
            f"{call.op} over {call.elements} values ({call.dtype}) {what}; expected {as_float(call.wide):.4g} as in "
            "float32. Add up in float32.",
            ref=call.ref,
            place=Place(frame=call.frame, op=f"aten::{call.op}"),
            elements=float(call.elements),
            error=math.inf if call.overflows else call.error,
        )

    def total(self, window: Window, now: RunningTotal, memory: dict[object, object]) -> Iterator[Finding]:
        """A running total: what one step added, and whether it still moves."""
        before, after, wide = as_float(now.before), as_float(now.after), as_float(now.wide)
        off = abs(after - wide) / abs(wide) if wide and math.isfinite(wide) else 0.0
        stuck = memory.get(("stuck", now.key()))
        still = before == after and as_float(now.added) != 0 and math.isfinite(after) and not now.graph
        said = ""
        if now.adds >= self.adds and off > self.error:
            said = f"is {after:.4g} after {now.adds} additions, off by {off:.1%}; expected {wide:.4g} as in float32"
        elif (
            still
            and isinstance(stuck, RunningTotal)
            and as_float(stuck.after) == after
            and now.ref.step - stuck.ref.step >= self.apart
        ):
            said = (
                f"stands still at {after:.4g} since step {stuck.ref.step}: {as_float(now.added):.3g} is added and "
                "nothing changes; expected it to grow"
            )
        if said:
            memory["told", now.key()] = True
            yield self.finding(
                window,
                "note",
                f"{spoken(now)} ({now.dtype}) {said}. Add up in float32, e.g. total += loss.item().",
                ref=now.ref,
                place=Place(frame=now.frame, op="aten::add"),
                total=after,
                added=as_float(now.added),
            )
        elif not still or not isinstance(stuck, RunningTotal) or as_float(stuck.after) != after:
            memory["stuck", now.key()] = now if still else None


def spoken(total: RunningTotal) -> str:
    """The line as the user wrote it."""
    return f"`{total.frame.code}`" if total.frame is not None and total.frame.code else "a running total"
