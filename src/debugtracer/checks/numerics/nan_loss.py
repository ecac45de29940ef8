"""Is the loss of this step a number?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.finding import Finding
from debugtracer.trace.window import LOSS, NONFINITE_ROW, SCALER_SKIPPED, SCALER_SKIPPING, Window, spoken


class NanLoss(Check, frozen=True):
    """The loss is NaN or infinite.

    What it catches
        A loss that is NaN, +Inf or -Inf at the moment backward is called on it.
    Why it matters
        Its gradient is NaN in most parameters; one update later every weight is NaN and the run cannot be saved.
    How it decides
        At the first non-finite loss, without waiting for a second one; where the run goes on, once more when a row of
        them is full. An infinite (not NaN) loss is left alone
        while an enabled GradScaler skips the update: at scale 65536 the scaled loss itself may leave the range.
    What to do
        Read the verdict: it names the op, the line and the sample where the value was born. Then
        `debug-tracer report RUN --batch`.
    Example
        step 48, rank 0: the loss is nan; the last 3 were 0.6931, 0.6884, 0.671; expected a finite number.
    """

    needs: ClassVar[tuple[str, ...]] = (LOSS, NONFINITE_ROW)
    family: ClassVar[str] = "loss"
    suspects: ClassVar[tuple[str, ...]] = (
        "data-nonfinite",
        "masked-softmax-all-masked",
        "log-domain",
        "zero-division",
        "labels-all-ignored",
        "fp16-overflow",
    )
    proved_by: ClassVar[str] = "numerics/log0_entropy"

    row: int = 3  # losses in a row that are not finite (a common limit for a pause)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield one error if the loss at this place is not finite, one when a row of such losses is full."""
        yield from self.in_a_row(window)
        loss = window.now(LOSS)
        if loss is None or math.isfinite(loss) or (math.isinf(loss) and SCALER_SKIPPING in window.flags):
            return
        before = spoken(window.before(LOSS))
        yield self.finding(
            window,
            "error",
            f"the loss is {loss}; {before}; expected a finite number. The verdict says where it was born.",
            loss=loss,
        )

    def in_a_row(self, window: Window) -> Iterator[Finding]:
        """Yield one error a row; updates that a scaler skips are counted by its own checks."""
        count = window.now(NONFINITE_ROW)
        if count is None:
            return
        memory = window.memory(self)
        full, memory["full"] = memory.get("full", False), count >= self.row
        if memory["full"] and not full and window.now(SCALER_SKIPPED) is None:
            yield self.finding(
                window,
                "error",
                f"the loss has not been finite for {count:.0f} steps in a row; expected a number again after one bad "
                "batch. Stop, go back to the last checkpoint with finite weights, and see the verdict of the first.",
                row=count,
            )
