"""Is Adam's eps larger than what it divides by?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.checks.snapshots import still_learning, taken
from debugtracer.trace.counted import counted
from debugtracer.trace.facts.health import Health
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class MomentsBelowEps(Check, frozen=True):
    """sqrt(v) of most elements is below eps, so Adam no longer adapts.

    What it catches
        Gradients that have become tiny (large models, a loss divided by too much) against eps 1e-8, or an eps that is
        too large.
    Why it matters
        The update is gradient / eps: proportional to a tiny gradient. The layer hardly learns (Wortsman 2023a).
    How it decides
        Share of touched elements (v > 0) whose sqrt(v) is below eps, over all parameters, above `share` in two
        snapshots in a row. A note. Silent once the loss is below a tenth of its first value: what has converged has
        small gradients by right.
    What to do
        Use a smaller eps (1e-15), or do not divide the loss.
    Example
        step 200, rank 0: sqrt(v) is below eps for 71% of the touched elements of 24 parameters (Adam), most in
        emb.weight; expected below 50%.
    """

    needs: ClassVar[tuple[type[Health]]] = (Health,)
    kind: ClassVar[str] = "optimizer_eps_underflow"
    symptom: ClassVar[str] = "no_learning"
    confidence: ClassVar[float] = 0.5
    remedies: ClassVar[tuple[str, ...]] = (
        "use a smaller eps, e.g. 1e-15",
        "do not divide the loss by more than the number of accumulated batches",
    )
    proved_by: ClassVar[str] = "optimizer/tiny_loss_scale"

    share: float = 0.5  # of touched elements (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield one note when two snapshots in a row say so."""
        facts = taken(window, after=1)[-2:]
        if not window.new(Health) or len(facts) < 2:
            return
        shares = [self.below(fact) for fact in facts]
        rows = [p for p in facts[-1].params if p.under_eps is not None]
        if min(shares) <= self.share or not rows or not still_learning(window):
            return
        worst = max(rows, key=lambda p: (p.under_eps or 0.0) * p.numel)
        yield self.finding(
            window,
            "note",
            f"sqrt(v) is below eps for {min(shares):.0%} of the touched elements of {counted(len(rows), 'parameter')} "
            f"({worst.optimizer}), most in {worst.name}; "
            f"expected below {self.share:.0%}. Use a smaller eps.",
            ref=facts[0].ref,
            place=Place(param=worst.name, module=worst.name.rpartition(".")[0]),
            share=min(shares),
        )

    def below(self, fact: Health) -> float:
        """The share of elements below eps, over all parameters that have a second moment."""
        rows = [p for p in fact.params if p.under_eps is not None]
        total = sum(p.numel for p in rows)
        return sum((p.under_eps or 0.0) * p.numel for p in rows) / total if total else 0.0
