"""Can weights that are all 0 leave it?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.zero_parameters import ZeroParameters
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class ZeroFactors(Check, frozen=True):
    """Weight matrices are 0 everywhere, and so are their gradients.

    What it catches
        Two factors of a product that both begin at 0 (a low-rank adapter, a gate before a zero layer), weights behind
        an output that is multiplied by 0.
    Why it matters
        The gradient of each factor is a product with the other, exactly 0: neither ever moves, and the branch adds
        nothing. The loss of the rest looks as ever.
    How it decides
        Two matrices or more that an optimizer holds were 0 and had gradients of exactly 0 in every look at it, before
        its updates 1, 2, 4, 8 and so on, the last one at least `apart` updates after the first. One layer that begins
        at 0 on purpose has a gradient.
    What to do
        Draw one of the two factors at random and leave the other at 0.
    Example
        step 0, rank 0: fc1.down, fc1.up and 2 more are 0 everywhere and have gradients of exactly 0 in 64 updates of
        AdamW; expected one factor of a product that is not 0. Draw one of them at random.
    """

    needs: ClassVar[tuple[type[ZeroParameters]]] = (ZeroParameters,)
    kind: ClassVar[str] = "bad_init"
    symptom: ClassVar[str] = "no_learning"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = (
        "draw one factor of the product at random (nn.init.kaiming_uniform_) and leave the other at 0",
        "look for a mask or a gate of zeros behind these weights",
    )
    proved_by: ClassVar[str] = "model/bus_delays"

    apart: int = 50  # updates between two looks (ours: a branch may rest for a few)
    least: int = 2  # matrices (ours: a product has two factors)
    values: int = 16  # of a matrix (ours: fewer may be a gate or a scale)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield one warning per optimizer for all of them together."""
        memory = window.memory(self)
        begun, told = memory.setdefault("begun", {}), memory.setdefault("told", set())
        for fact in window.new(ZeroParameters):
            ref = begun.setdefault(fact.optimizer, fact.ref)
            stuck = [p for p in fact.stuck if len(p.shape) > 1 and size(p.shape) >= self.values and not p.flat]
            if fact.updates - 1 < self.apart or len(stuck) < self.least or fact.optimizer in told:
                continue
            told.add(fact.optimizer)
            names = [p.name for p in stuck]
            more = f" and {len(names) - 2} more" if len(names) > 2 else ""
            yield self.finding(
                window,
                "warning",
                f"{', '.join(names[:2])}{more} are 0 everywhere and have gradients of exactly 0 in {fact.updates} "
                f"updates of {fact.kind}; expected one factor of a product that is not 0. Draw one of them at random.",
                ref=ref,
                place=Place(
                    param=names[0],
                    module=names[0].rpartition(".")[0] or None,
                    frame=stuck[0].made,
                    symptom_frame=fact.built,
                ),
                parameters=float(len(names)),
            )


def size(shape: tuple[int, ...]) -> int:
    """The number of values of a shape."""
    total = 1
    for length in shape:
        total *= length
    return total
