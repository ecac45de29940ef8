"""Does the loss scale hold once it has been found?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.checks.numerics.skips import skips_in_a_row
from debugtracer.trace.finding import Finding
from debugtracer.trace.window import LOSS_SCALE, SCALER_SKIPPED, Window


class ScalerBackoff(Check, frozen=True):
    """The scaler skips many updates after its scale was found.

    What it catches
        Overflow in float16 that a smaller loss scale does not cure for long: a layer whose activations or gradients
        grow, rare huge samples.
    Why it matters
        Each skipped update is a batch that teaches nothing.
    How it decides
        Counted from the first update that went through: 5 skipped in a row, or more than 10 % of the last 200 (and at
        least 100 are there). The first updates, in which the scale falls from 65536 until it fits, do not count; nor
        does one skip after each growth.
    What to do
        Find the operation that overflows (the report of an incident names it) and run it in float32; keep
        `growth_interval` at 2000.
    Example
        step 120, rank 0: the scaler has skipped 5 updates in a row, after 98 that went through, the scale is 256;
        expected one skip after each growth. Find the overflowing operation and run it in float32.
    """

    needs: ClassVar[tuple[str, ...]] = (SCALER_SKIPPED,)
    family: ClassVar[str] = "scale"
    suspects: ClassVar[tuple[str, ...]] = ("fp16-overflow",)
    remedies: ClassVar[tuple[str, ...]] = (
        "run the overflowing operation in float32: with torch.autocast(device, enabled=False)",
        "keep growth_interval at its default of 2000, or use bfloat16, which needs no scaler",
    )
    proved_by: ClassVar[str] = "numerics/scale_grows_fast"

    row: int = 5  # skipped updates in a row (a common rule of thumb)
    share: float = 0.1  # of the last `span` updates (ours)
    span: int = 200  # updates (ours)
    least: int = 100  # updates since the first good one before a share says anything (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield when a row of skipped updates is full, or their share passes its limit."""
        memory = window.memory(self)
        skipped = window.now(SCALER_SKIPPED) == 1.0
        if not memory.get("good") and skipped:
            return
        memory["good"] = memory.get("good", 0) + (not skipped)
        row = skips_in_a_row(window, memory)
        memory["seen"] = memory.get("seen", 0) + 1
        scale = window.series.get(LOSS_SCALE, (0.0,))[-1]
        full, memory["full"] = memory.get("full", False), row >= self.row
        if memory["full"] and not full:
            yield self.finding(
                window,
                "warning",
                f"the scaler has skipped {row} updates in a row, after {memory['good']} that went through, the "
                f"scale is {scale:.6g}; expected one skip "
                "after each growth. Find the overflowing operation and run it in float32.",
                row=row,
                scale=scale,
            )
        last = list(window.series[SCALER_SKIPPED])[-min(self.span, memory["seen"]) :]
        if skipped and len(last) >= self.least and sum(last) > self.share * len(last):
            yield self.finding(
                window,
                "warning",
                f"the scaler has skipped {int(sum(last))} of the last {len(last)} updates, the scale is {scale:.6g}; "
                f"expected at most {self.share:.0%}. "
                "Find the overflowing operation and run it in float32, or raise growth_interval.",
                share=sum(last) / len(last),
                scale=scale,
            )
