"""Did the update of this step write only finite numbers?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.finding import Finding
from debugtracer.trace.window import GRAD_L2, PARAM_L2, PARAM_MAX, Window


class NonfiniteParameter(Check, frozen=True):
    """A parameter is NaN or infinite after an update whose gradients were finite.

    What it catches
        Values born inside `optimizer.step()`: 0/0 in Adam when epsilon underflows in half precision, an update beyond
        the range of the dtype.
    Why it matters
        Loss and gradients of the step look healthy, so a guard on either lets it pass; the weights are already lost.
    How it decides
        The L2 norm of all parameters is not finite after the update and the gradient norm before it was. A norm that
        overflows by itself is not a fault: if the largest |parameter| was taken and is finite, it stays silent.
    What to do
        Read the verdict: it names the op inside the optimizer. Keep float32 master weights, or raise the optimizer's
        eps.
    Example
        step 0, rank 0: the update made embed.weight non-finite (parameter norm nan) from a finite gradient (norm
        0.731); expected finite parameters.
    """

    needs: ClassVar[tuple[str, ...]] = (PARAM_L2, PARAM_MAX, GRAD_L2)
    suspects: ClassVar[tuple[str, ...]] = ("optimizer-eps-underflow", "fp16-overflow", "lr-too-high")
    proved_by: ClassVar[str] = "optimizer/half_adam_default_eps"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield one error if the parameters are not finite after an update from finite gradients."""
        norm, largest, grad = window.now(PARAM_L2), window.now(PARAM_MAX), window.now(GRAD_L2)
        if (
            norm is None
            or math.isfinite(norm)
            or (largest is not None and math.isfinite(largest))
            or (grad is not None and not math.isfinite(grad))
        ):
            return
        which = window.bad[0] if window.bad else "a parameter"
        source = "" if grad is None else f" from a finite gradient (norm {grad:.4g})"
        yield self.finding(
            window,
            "error",
            f"the update made {which} non-finite (parameter norm {norm}){source}; expected finite parameters. The "
            "verdict names the op inside the optimizer.",
            param_l2=norm,
        )
