"""Does a weight grow without end?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.checks.optimizer.update_ratio import SMALL
from debugtracer.checks.snapshots import is_matrix, rms, taken
from debugtracer.spikes.lines import built_at
from debugtracer.trace.facts.health import Health
from debugtracer.trace.finding import Finding
from debugtracer.trace.number import as_float
from debugtracer.trace.place import Place
from debugtracer.trace.step import StepRef
from debugtracer.trace.window import PARAM_L2, Window

EVERY = 50  # steps between two values of param_l2 that are kept (ours)
ALL = "all parameters"


@dataclass(frozen=True)
class Size:
    """The norm of something at one step."""

    ref: StepRef
    l2: float


class WeightNormGrowth(Check, frozen=True):
    """The norm of a weight grows exponentially: by the same factor every hundred steps.

    What it catches
        A penalty with the wrong sign, a rate that is proportional to the weight (LARS, LAMB) without decay, a scale
        that no loss holds (a layer before a normalisation).
    Why it matters
        Before a normalisation the loss does not notice it: the effective learning rate falls towards 0, and float16 and
        bfloat16 run out of range. Elsewhere it ends in a divergence.
    How it decides
        Over health snapshots of matrices: the norm has grown by more than `times` per 1,000 steps over at least `least`
        steps, it grew between any two looks, and its logarithm follows a line (the second half has at least `half` of
        the growth; weights that grow to their size slow down). The first `first` steps, weights that begin near zero
        (zero-initialised, LoRA) and vectors are left out. Where there are fewer than four snapshots in `span` steps,
        the norm of all parameters is judged.
    What to do
        Look at the sign of penalties, give the weight decay (or normalise it), lower the learning rate.
    Example
        step 600, rank 0: the norm of body.0.weight has grown from 3.1 at step 100 to 28.4, 9.16 times in 500 steps by a
        steady factor (83.9 times in 1000 steps); expected less than 10 times in 1000. Look at the sign of penalties,
        add weight decay.
    """

    needs: ClassVar[tuple[str | type[Health], ...]] = (Health, PARAM_L2)
    kind: ClassVar[str] = "weight_growth"
    confidence: ClassVar[float] = 0.6
    remedies: ClassVar[tuple[str, ...]] = (
        "look at the sign of the penalties in the loss",
        "give this weight decay: torch.optim.AdamW(parameters, weight_decay=0.1)",
        "lower the learning rate",
    )
    family: ClassVar[str] = "update"
    proved_by: ClassVar[str] = "optimizer/rewarded_weights"

    times: float = 10.0  # growth per 1,000 steps (ours)
    span: int = 1000  # steps looked back (ours)
    least: int = 500  # steps it must have lasted (ours)
    first: int = 100  # steps from the start: weights find their size (ours)
    # of the growth of log(norm) in the second half; a straight line has 0.5, a norm that grows tenfold in equal steps
    # 0.26 (ours)
    half: float = 0.4

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield once: for the weight that grows fastest; else for the norm of all of them."""
        facts = [fact for fact in taken(window, after=self.first) if fact.ref.step >= window.ref.step - self.span]
        total = self.total(window)
        if window.new(Health) and facts:
            growing = {name: sizes for name, sizes in histories(facts).items() if self.grows(sizes)}
            if growing and not window.memory(self).get("told"):
                name = max(growing, key=lambda n: rate(growing[n]))
                yield self.describe(window, name, growing[name], len(growing))
        elif len(facts) < 4 and total and self.grows(total) and not window.memory(self).get("told"):
            yield self.describe(window, ALL, total, 1)

    def total(self, window: Window) -> Sequence[Size]:
        """The norm of all parameters every EVERY steps, when that has just been measured."""
        now, kept = window.now(PARAM_L2), window.memory(self).setdefault(ALL, [])
        if now is None or window.ref.step < self.first or (kept and window.ref.step < kept[-1].ref.step + EVERY):
            return ()
        kept.append(Size(window.ref, now))
        del kept[: -(self.span // EVERY) - 1]
        return tuple(kept)

    def grows(self, sizes: Sequence[Size]) -> bool:
        """True when the norm rises steadily, for long, and by enough."""
        if len(sizes) < 4 or sizes[-1].ref.step - sizes[0].ref.step < self.least or not 0 < sizes[0].l2 < math.inf:
            return False
        if any(not early.l2 < late.l2 < math.inf for early, late in pairwise(sizes)):
            return False
        middle = min(sizes[1:-1], key=lambda s: abs(2 * s.ref.step - sizes[0].ref.step - sizes[-1].ref.step))
        return rate(sizes) * 1000 > math.log(self.times) and rate([middle, sizes[-1]]) > 2 * self.half * rate(sizes)

    def describe(self, window: Window, name: str, sizes: Sequence[Size], count: int) -> Finding:
        """Build the finding with the first norm, the last one and the factor between them."""
        window.memory(self)["told"] = True
        begun, now = sizes[0], sizes[-1]
        factor, steps = now.l2 / begun.l2, now.ref.step - begun.ref.step
        others = f" (and of {count - 1} more)" if count > 1 else ""
        param = None if name is ALL else name
        rows = [p for fact in window.new(Health) for p in fact.params if p.name == param]
        return self.finding(
            window,
            "warning",
            f"the norm of {name}{others} has grown from {begun.l2:.3g} at step {begun.ref.step} to {now.l2:.3g}, "
            f"{factor:.3g} times in {steps} steps by a steady factor ({factor ** (1000 / steps):.3g} times in 1000 "
            f"steps); expected less than {self.times:g} times in 1000. Look at the sign of "
            "penalties, add weight decay.",
            ref=begun.ref,
            place=Place(
                param=param,
                module=param.rpartition(".")[0] if param else None,
                frame=built_at(window, rows[0].optimizer) if rows else None,
            ),
            factor=factor,
            steps=steps,
        )


def rate(sizes: Sequence[Size]) -> float:
    """The growth of log(norm) per step."""
    steps = sizes[-1].ref.step - sizes[0].ref.step
    return math.log(sizes[-1].l2 / sizes[0].l2) / steps if steps and sizes[0].l2 > 0 else 0.0


def histories(facts: Sequence[Health]) -> dict[str, list[Size]]:
    """The norms of each matrix that has the size of a weight from the first of these looks on."""
    found: dict[str, list[Size]] = {}
    for fact in facts:
        for name, row in fact.of("weight").items():
            if (
                is_matrix(row)
                and math.prod(row.shape) >= 64
                and (name in found or rms(row) * math.sqrt(math.prod(row.shape[1:])) > SMALL)
            ):
                found.setdefault(name, []).append(Size(fact.ref, as_float(row.l2)))
    return found
