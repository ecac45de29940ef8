"""Do half-precision weights change at all when they are updated?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.checks.snapshots import taken
from debugtracer.trace.facts.health import Health, ParamDynamics
from debugtracer.trace.finding import Finding
from debugtracer.trace.number import as_float
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class HalfStalled(Check, frozen=True):
    """Most updates of half-precision weights are rounded away.

    What it catches
        A model whose weights themselves are bfloat16 or float16 with an ordinary learning rate: an update below half a
        unit in the last place (1/256 of the weight in bfloat16) leaves the weight as it was.
    Why it matters
        Training slows and stops while the loss still looks plausible; a smaller learning rate makes it worse.
    How it decides
        Share of elements with a non-zero gradient whose value the step left unchanged, over all half-precision weights
        that the optimizer holds: above `stalled` in the last `snapshots` snapshots with a learning rate above zero.
        float32 master copies are not concerned: the optimizer holds those.
    What to do
        Keep float32 weights and use autocast, or an optimizer with master weights or stochastic rounding.
    Example
        step 1, rank 0: 97% of the updates of 12 bfloat16 weights (lr 0.001, AdamW) change nothing, most in head.weight;
        expected below 90%.
    """

    needs: ClassVar[tuple[type[Health]]] = (Health,)
    kind: ClassVar[str] = "half_weights_stalled"
    symptom: ClassVar[str] = "no_learning"
    confidence: ClassVar[float] = 0.8
    remedies: ClassVar[tuple[str, ...]] = (
        "keep the weights in float32 and run the forward under torch.autocast(dtype=torch.bfloat16)",
        "or use an optimizer with float32 master weights or stochastic rounding",
    )
    proved_by: ClassVar[str] = "numerics/pure_bfloat16"

    stalled: float = 0.9  # share of touched elements (ours)
    snapshots: int = 2  # in a row (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield one warning at the snapshot that completes the proof."""
        facts = taken(window)[-self.snapshots :]
        if not window.new(Health) or len(facts) < self.snapshots:
            return
        shares = [
            self.share([p for p in fact.params if p.stalled is not None and as_float(p.lr) > 0]) for fact in facts
        ]
        if min(shares) <= self.stalled:
            return
        rows = [p for p in facts[-1].params if p.stalled is not None]
        worst = max(rows, key=lambda p: (p.stalled or 0.0) * p.numel)
        yield self.finding(
            window,
            "warning",
            f"{min(shares):.0%} of the updates of {len(rows)} {worst.dtype} weights (lr {as_float(worst.lr):.3g}, "
            f"{worst.optimizer}) change nothing, most in "
            f"{worst.name}; expected below {self.stalled:.0%}. Keep float32 weights and use autocast.",
            ref=facts[0].ref,
            place=Place(param=worst.name, module=worst.name.rpartition(".")[0]),
            stalled_share=min(shares),
        )

    def share(self, rows: list[ParamDynamics]) -> float:
        """The stalled share of all touched elements of these weights."""
        total = sum(p.numel for p in rows)
        return sum((p.stalled or 0.0) * p.numel for p in rows) / total if total else 0.0
