"""Are the gradients of this step finite when the optimizer is about to use them?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.finding import Finding
from debugtracer.trace.window import GRAD_L2, GRAD_MAX, LOSS, SCALER_SKIPPING, Window, spoken


class NonfiniteGradient(Check, frozen=True):
    """A gradient is NaN or infinite before the update.

    What it catches
        NaN or Inf in any gradient at the gate, just before the optimizer writes; also when the loss itself is finite.
    Why it matters
        The update writes it into the weights; the loss shows it one step later, when all weights are lost.
    How it decides
        The L2 norm of all gradients is not finite. A float32 norm of finite gradients can overflow by itself (1e30
        squared is Inf), so if the largest |gradient| was taken and is finite, it stays silent. While an enabled
        GradScaler skips the update it stays silent too: the first steps at scale 65536 do that in every healthy run.
    What to do
        Read the verdict: a finite loss with a bad gradient is a derivative (sqrt at 0, acos at 1, the unselected branch
        of where).
    Example
        step 56, rank 0: the gradient norm is nan while the loss is 0.4211; expected a finite norm.
    """

    needs: ClassVar[tuple[str, ...]] = (GRAD_L2, GRAD_MAX, LOSS)
    family: ClassVar[str] = "gradient"
    suspects: ClassVar[tuple[str, ...]] = (
        "backward-nan-op",
        "fp16-overflow",
        "exploding-gradients",
        "custom-backward-wrong",
    )
    proved_by: ClassVar[str] = "numerics/sqrt0_norm"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield one error if the gradient norm at this place is not finite and nobody else skips the update."""
        norm, largest, loss = window.now(GRAD_L2), window.now(GRAD_MAX), window.now(LOSS)
        if (
            norm is None
            or math.isfinite(norm)
            or SCALER_SKIPPING in window.flags
            or (largest is not None and math.isfinite(largest))
        ):
            return
        beside = "" if loss is None else f" while the loss is {loss:.4g}"
        first = f", first in {window.bad[0]}" if window.bad else ""
        yield self.finding(
            window,
            "error",
            f"the gradient norm is {norm}{first}{beside}; {spoken(window.before(GRAD_L2))}; expected a finite norm. "
            "The verdict says where it was born.",
            grad_l2=norm,
        )
