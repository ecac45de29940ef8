"""Is what the model answers a number when no backward follows?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.finding import Finding
from debugtracer.trace.window import OUTPUT_NAN, Window


class NonfiniteOutput(Check, frozen=True):
    """The root module returned NaN and no backward follows.

    What it catches
        NaN in the output of the root module in evaluation, under `no_grad`, in generation.
    Why it matters
        A metric over NaN is NaN or silently wrong (argmax of NaN is an index), and the training loss may still be
        finite.
    How it decides
        It counts NaN elements only: -Inf and +Inf in an output are values (masked logits, a running minimum), not
        faults.
    What to do
        Read the verdict: the forward is executed again and names the op. Look for dropout-free statistics (running_var)
        and unseen inputs.
    Example
        step 120, rank 0: the model returned 64 NaN values and no backward follows; expected none.
    """

    needs: ClassVar[tuple[str, ...]] = (OUTPUT_NAN,)
    suspects: ClassVar[tuple[str, ...]] = (
        "data-nonfinite",
        "masked-softmax-all-masked",
        "zero-division",
        "fp16-overflow",
    )
    proved_by: ClassVar[str] = "numerics/validation_empty_clip"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield one error if the output at this place holds NaN."""
        count = window.now(OUTPUT_NAN)
        if not count:
            return
        yield self.finding(
            window,
            "error",
            f"the model returned {count:.0f} NaN values and no backward follows; expected none. The verdict says where "
            "it was born.",
            output_nan=count,
        )
