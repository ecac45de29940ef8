"""How far are half-precision values from the end of their range?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.health import Health, TensorHealth
from debugtracer.trace.finding import Finding
from debugtracer.trace.number import as_float
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

FP16_MAX = 65504.0


class HalfHeadroom(Check, frozen=True):
    """A float16 tensor comes within two bits of 65504.

    What it catches
        Activations or gradients in float16 that will overflow with a slightly larger input or loss scale.
    Why it matters
        The step after the overflow has an infinite loss, or a scaler that backs off again and again.
    How it decides
        Largest |value| of the sampled elements of a float16 tensor above 65504 / `margin`. A note: many runs live close
        to the edge for long.
    What to do
        Use bfloat16, or keep this layer in float32 (`torch.autocast(enabled=False)` round it).
    Example
        step 100, rank 0: the activation blocks.7.mlp.0 (float16) reaches 2.1e+04, 1.6 bits below 65504; expected at
        least 2 bits of headroom.
    """

    needs: ClassVar[tuple[type[Health]]] = (Health,)
    kind: ClassVar[str] = "fp16_overflow"
    confidence: ClassVar[float] = 0.4
    remedies: ClassVar[tuple[str, ...]] = (
        "use bfloat16",
        "keep this layer in float32: with torch.autocast(device_type, enabled=False)",
    )
    family: ClassVar[str] = "scale"
    proved_by: ClassVar[str] = "numerics/float16_near_the_edge"

    margin: float = 4.0  # 65504 over the largest value (ours: two bits of room)

    def judge(self, window: Window) -> Iterator[Finding]:
        """The tensor with the least headroom in each new snapshot."""
        for fact in window.new(Health):
            rows = [row for row in fact.tensors if row.dtype == "float16"]
            worst = max(rows, key=largest, default=None)
            if worst is not None:
                self.measured(window, "largest float16 value", largest(worst), FP16_MAX / self.margin)
            if worst is not None and largest(worst) > FP16_MAX / self.margin:
                yield self.describe(window, fact, worst)

    def describe(self, window: Window, fact: Health, row: TensorHealth) -> Finding:
        """Which tensor and how many bits are left."""
        bits = math.log2(FP16_MAX / largest(row))
        return self.finding(
            window,
            "note",
            f"the {row.role} {row.name} (float16) reaches {largest(row):.2g}, {bits:.1f} bits below 65504; expected at "
            f"least {math.log2(self.margin):.0f} bits "
            "of headroom. Use bfloat16, or float32 for this layer.",
            ref=fact.ref,
            place=Place(module=row.name if row.role == "activation" else row.name.rpartition(".")[0], frame=row.frame),
            headroom_bits=bits,
        )


def largest(row: TensorHealth) -> float:
    """The largest absolute value of the tensor."""
    return max(abs(as_float(row.low)), abs(as_float(row.high)))
