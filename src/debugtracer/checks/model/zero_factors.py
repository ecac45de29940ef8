"""Can weights that are all 0 leave it?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.checks.snapshots import is_matrix, taken
from debugtracer.trace.facts.health import Health
from debugtracer.trace.finding import Finding
from debugtracer.trace.number import as_float
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


@dataclass(frozen=True)
class ZeroFactors(Check):
    """Weight matrices are 0 everywhere, and so are their gradients.

    What it catches
        Two factors of a product that both begin at 0 (a low-rank adapter, a gate before a zero layer), weights behind
        an output that is multiplied by 0.
    Why it matters
        The gradient of each factor is a product with the other, exactly 0: neither ever moves, and the branch adds
        nothing. The loss of the rest looks as ever.
    How it decides
        Two matrices or more that an optimizer holds have norm 0 and a gradient of norm 0 in two health snapshots at
        least `apart` steps from each other. One layer that begins at 0 on purpose has a gradient.
    What to do
        Draw one of the two factors at random and leave the other at 0.
    Example
        step 100, rank 0: fc1.down, fc1.up and 2 more are 0 everywhere and have gradients of exactly 0 until step 200
        (AdamW); expected one factor of a product that is not 0. Draw one of them at random.
    """

    needs: ClassVar[tuple[type[Health]]] = (Health,)
    kind: ClassVar[str] = "parameters_not_updated"
    symptom: ClassVar[str] = "no_learning"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = (
        "draw one factor of the product at random (nn.init.kaiming_uniform_) and leave the other at 0",
        "look for a mask or a gate of zeros behind these weights",
    )
    proved_by: ClassVar[str] = "model/bus_delays"

    apart: int = 50  # steps between two looks (ours: a branch may rest for a few)
    least: int = 2  # matrices (ours: a product has two factors)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield one warning for all of them together."""
        facts, memory = taken(window), window.memory(self)
        if not window.new(Health) or "told" in memory or not facts:
            return
        last = facts[-1]
        before = next((f for f in reversed(facts) if last.ref.step - f.ref.step >= self.apart), None)
        if before is None:
            return
        stuck = [name for name in still(last) if name in still(before)]
        if len(stuck) < self.least:
            return
        memory["told"] = True
        more = f" and {len(stuck) - 2} more" if len(stuck) > 2 else ""
        yield self.finding(
            window,
            "warning",
            f"{', '.join(stuck[:2])}{more} are 0 everywhere and have gradients of exactly 0 until step "
            f"{last.ref.step} ({still(last)[stuck[0]]}); expected one factor of a product that is not 0. Draw one of "
            "them at random.",
            ref=before.ref,
            place=Place(param=stuck[0], module=stuck[0].rpartition(".")[0] or None),
            parameters=float(len(stuck)),
        )


def still(fact: Health) -> dict[str, str]:
    """Map the matrices that are 0 and have a gradient of 0 to the optimizer that holds them."""
    weights = fact.of("weight")
    return {
        param.name: param.optimizer
        for param in fact.params
        if param.grad_l2 is not None
        and as_float(param.grad_l2) == 0 == as_float(param.weight_l2)
        and param.name in weights
        and is_matrix(weights[param.name])
    }
