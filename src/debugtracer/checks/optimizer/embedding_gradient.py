"""Does one embedding take over the gradient?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import median
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.checks.snapshots import taken
from debugtracer.spikes.precursors import FOLLOWED, Precursors
from debugtracer.trace.facts.health import Health
from debugtracer.trace.finding import Finding
from debugtracer.trace.number import as_float
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class EmbeddingGradient(Check, frozen=True):
    """The share of an embedding in the gradient norm jumps.

    What it catches
        The precursor of the collapses of GLM-130B: the gradient of the embedding grows far beyond its usual share.
    Why it matters
        Its loss spikes followed several steps later; shrinking that gradient to a tenth prevented them.
    How it decides
        norm(gradient of the embedding) / norm(all gradients) on inspected steps: above 0.5 and above `times` its median
        over at least `history` snapshots. A note, where the loss jumped (see loss-spike) in one of the 8 steps from
        there on; in healthy runs most such shares pass without a jump. An embedding is the weight of a leaf
        module called Embedding.
    What to do
        Shrink its gradient (x = 0.1 * x + 0.9 * x.detach()), normalise the embedding, lower the learning rate.
    Example
        step 900, rank 0: emb.weight has 91% of the gradient norm, 4.5 times its usual share; expected below 3 times.
        The loss jumped at step 904: shrink its gradient.
    """

    needs: ClassVar[tuple[type[Health]]] = (Health,)
    at_end: ClassVar[bool] = True
    symptom: ClassVar[str] = "loss_spike"
    remedies: ClassVar[tuple[str, ...]] = (
        "shrink its gradient: x = 0.1 * x + 0.9 * x.detach()",
        "put nn.LayerNorm after the embedding",
        "lower the learning rate",
    )
    family: ClassVar[str] = "gradient"
    proved_by: ClassVar[str] = "optimizer/sudden_gradient"

    times: float = 3.0  # share over its median (ours)
    history: int = 4  # snapshots before (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Judge each embedding of a new snapshot; yield those after which the loss jumped."""
        held: Precursors = window.memory(self).setdefault("held", Precursors())
        for finding in self.strays(window):
            held.hold(finding)
        yield from held.followed(window)

    def strays(self, window: Window) -> Iterator[Finding]:
        """Yield the embeddings whose share is far above its usual."""
        facts = taken(window)
        if not window.new(Health) or len(facts) <= self.history:
            return
        names = [f"{row.name}.weight" for row in facts[-1].of("activation").values() if row.function == "Embedding"]
        for name in names:
            shares = [share for fact in facts if (share := share_of(fact, name)) is not None]
            if len(shares) <= self.history:
                continue
            now, usual = shares[-1], median(shares[:-1])
            if now > 0.5 and now > self.times * usual:
                yield self.finding(
                    window,
                    "note",
                    f"{name} has {now:.0%} of the gradient norm, {now / max(usual, 1e-9):.2g} times its usual share; "
                    f"expected below {self.times:.2g} times. {FOLLOWED}: shrink its gradient.",
                    ref=facts[-1].ref,
                    place=Place(param=name, module=name.rpartition(".")[0]),
                    share=now,
                )


def share_of(fact: Health, name: str) -> float | None:
    """The norm of one gradient over the norm of all."""
    rows = fact.of("gradient")
    total = math.sqrt(sum(as_float(row.l2) ** 2 for row in rows.values()))
    return as_float(rows[name].l2) / total if name in rows and total > 0 else None
