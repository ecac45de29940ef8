"""How much of the gradient is too small for float16?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.counted import counted
from debugtracer.trace.facts.health import LOWEST, Health, TensorHealth
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

NORMAL = -14  # 2^-14, the least normal number of float16


class GradientUnderflow(Check, frozen=True):
    """Most of the gradient of a half-precision layer is zero or below the least number of float16.

    What it catches
        A loss scale that is too small, or none at all, under float16: gradients below 6e-8 become zero.
    Why it matters
        These weights do not move; the loss falls slowly or not at all and nothing is ever NaN.
    How it decides
        Over the gradients in float16 of a snapshot: share of sampled values that are zero or below 2^-24, above
        `flushed`. The zeros of a parameter count where at least `near` of its other values are subnormal, below 2^-14:
        what is absent from a batch (rows of an embedding), ReLU and masks leave zeros beside values far above. A note.
    What to do
        Use torch.amp.GradScaler, a larger init_scale, or bfloat16.
    Example
        step 2, rank 0: 83% of the float16 gradient values of 6 parameters are zero or below 6e-08, most in 0.weight;
        expected below 50%.
    """

    needs: ClassVar[tuple[type[Health]]] = (Health,)
    kind: ClassVar[str] = "fp16_underflow"
    confidence: ClassVar[float] = 0.5
    remedies: ClassVar[tuple[str, ...]] = (
        "scale the loss with torch.amp.GradScaler",
        "use bfloat16 instead of float16",
    )
    family: ClassVar[str] = "gradient"
    proved_by: ClassVar[str] = "numerics/float16_near_the_edge"

    flushed: float = 0.5  # share of the sampled values (ours)
    near: float = 0.1  # share of the values that are not zero (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield one note per snapshot."""
        for fact in window.new(Health):
            rows = [row for row in fact.of("gradient").values() if row.dtype == "float16" and row.bins]
            total = sum(row.sampled for row in rows)
            if total:
                share = sum(map(self.lost, rows)) / total
                self.measured(window, "share of float16 gradient values that are zero", share, self.flushed)
            if not total or sum(map(self.lost, rows)) <= self.flushed * total:
                continue
            share, worst = sum(map(self.lost, rows)) / total, max(rows, key=self.lost)
            yield self.finding(
                window,
                "note",
                f"{share:.0%} of the float16 gradient values of {counted(len(rows), 'parameter')} are zero or below "
                f"{2.0**LOWEST:.0e}, most in {worst.name}; "
                f"expected below {self.flushed:.0%}. Scale the loss, or use bfloat16.",
                ref=fact.ref,
                place=Place(param=worst.name, module=worst.name.rpartition(".")[0]),
                flushed_share=share,
            )

    def lost(self, row: TensorHealth) -> float:
        """The number of sampled values that fell below what float16 can hold."""
        rest = sum(row.bins)
        subnormal = sum(row.bins[: NORMAL - LOWEST + 1])
        zeros = row.zero_share * row.sampled if subnormal >= self.near * rest else 0.0
        return zeros + row.bins[0]
