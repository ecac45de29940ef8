"""How large are the updates beside the weights?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.checks.snapshots import always, is_matrix, ratio, taken
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.health import Health, ParamDynamics, TensorHealth
from debugtracer.trace.facts.wiring import Wiring
from debugtracer.trace.finding import Finding
from debugtracer.trace.number import as_float
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

SMALL = 0.3  # of 1/sqrt(fan in), in which torch's default has 0.58 and He's 1.4 (ours)


@dataclass(frozen=True)
class UpdateRatio(Check):
    """One step changes a weight by half of the weight itself, or by next to nothing.

    What it catches
        A learning rate that is orders of magnitude too high or too low.
    Why it matters
        There the weights are replaced within two steps: nothing learnt stays. Below 1e-7 float32 rounds the change
        away.
    How it decides
        norm(update)/norm(weight) of matrices of at least 64 values whose weight is not near zero: above `replaced` in
        the last `snapshots` snapshots is a warning, above `high` or below `low` (with a learning rate and a gradient) a
        note. Healthy is 1e-4 to 1e-2.
    What to do
        Divide the learning rate by 10 (or multiply by 3) and look at the loss again.
    Example
        step 100, rank 0: the step changes fc.weight by 3.2 times its norm (lr 1.0, SGD); expected 1e-4 to 1e-2. Divide
        the learning rate by 10.
    """

    needs: ClassVar[tuple[type[Health]]] = (Health,)
    kind: ClassVar[str] = "lr_too_high"
    symptom: ClassVar[str] = "no_learning"
    confidence: ClassVar[float] = 0.7
    remedies: ClassVar[tuple[str, ...]] = (
        "divide the learning rate by 10, then by 100",
        "warm the learning rate up over the first steps",
    )
    family: ClassVar[str] = "update"
    suspects: ClassVar[tuple[str, ...]] = ("exploding-gradients",)
    proved_by: ClassVar[str] = "optimizer/lr_in_wrong_unit"

    replaced: float = 0.5  # norm(update)/norm(weight): little of the weight stays (ours; smdebug alarms at 10)
    high: float = 0.1  # for a note (healthy layers change by 1e-4 to 1e-2 a step)
    low: float = 1e-7  # for a note (ours; smdebug says 1e-8)
    snapshots: int = 2  # snapshots in a row in which it must hold (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """The parameter with the largest update; a note about the smallest."""
        facts = taken(window)[-self.snapshots :]
        if not window.new(Health) or len(facts) < self.snapshots:
            return
        matrices = {name for name, row in facts[-1].of("weight").items() if is_matrix(row)}
        shapes = facts[0].of("weight")
        first = {p.name: p for p in facts[0].params}
        grown = {
            name for name in matrices if name in first and name in shapes and full_grown(shapes[name], first[name])
        }
        rows = [p for p in facts[-1].params if p.name in grown and judgeable(p)]
        if not rows:
            return
        worst = max(rows, key=lambda p: ratio(p) or 0.0)
        for limit, severity in ((self.replaced, "warning"), (self.high, "note")):
            if always(facts, worst.name, lambda p, limit=limit: (ratio(p) or 0.0) > limit):  # type: ignore[misc]
                yield self.describe(window, facts, worst, severity)
                return
        if all(always(facts, p.name, lambda p: self.rests(p)) for p in rows):
            yield self.describe(window, facts, worst, "note")

    def rests(self, update: ParamDynamics) -> bool:
        """True when there is next to no change although there are a rate and a gradient."""
        return (ratio(update) or 1.0) < self.low and as_float(update.lr) > 0 and as_float(update.grad_l2 or 0.0) > 0

    def describe(self, window: Window, facts: list[Health], worst: ParamDynamics, severity: str) -> Finding:
        """Where, how much, at which rate."""
        value = ratio(worst) or 0.0
        advice = "Divide the learning rate by 10." if value > self.high else "Multiply the learning rate by 10."
        return self.finding(
            window,
            severity,  # type: ignore[arg-type]
            f"the step changes {worst.name} by {value:.2g} times its norm (lr {as_float(worst.lr):.3g}, "
            f"{worst.optimizer}); expected 1e-4 to 1e-2. {advice}",
            ref=facts[0].ref,
            place=Place(
                param=worst.name, module=worst.name.rpartition(".")[0], frame=built_at(window, worst.optimizer)
            ),
            ratio=value,
        )


def built_at(window: Window, kind: str) -> Frame | None:
    """Where the user built the optimizer of that kind: the line to edit."""
    wiring = window.last(Wiring)
    return next((o.frame for o in wiring.optimizers if o.kind == kind), None) if wiring is not None else None


def judgeable(update: ParamDynamics) -> bool:
    """True for a weight large enough to have a size of its own, and not near zero."""
    return update.numel >= 64 and ratio(update) is not None and as_float(update.weight_l2) > 1e-3 * update.numel**0.5


def full_grown(row: TensorHealth, update: ParamDynamics) -> bool:
    """True for a size near 1/sqrt(fan in): a head that starts at zero or with a small gain rightly grows fast."""
    fan_in = max(math.prod(row.shape[1:]), 1)
    return as_float(update.weight_l2) > SMALL * math.sqrt(update.numel / fan_in)
