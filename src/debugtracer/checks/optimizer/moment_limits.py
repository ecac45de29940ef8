"""Is Adam's state beyond the fixed limits that somebody has set?"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.checks.snapshots import taken
from debugtracer.trace.facts.health import Health
from debugtracer.trace.finding import Finding
from debugtracer.trace.number import as_float
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

SETTLED = 50  # steps until the first moment, which starts at 0, is one to compare with (ours)


class MomentLimits(Check, frozen=True):
    """The state of Adam is beyond a fixed limit.

    What it catches
        A first moment (exp_avg) that grows, and a second moment (exp_avg_sq) that has almost vanished.
    Why it matters
        What you know to be too much for this model holds from the first snapshot on, whatever the run did before.
    How it decides
        Off until an option is above 0; `--preset seed` sets them as articles on debugging do. In health snapshots: the
        norm of all first moments above `times` its value in the first snapshot from step 50 on, or larger by `rise` in
        each of `in_a_row`; the smallest touched second moment (bias-corrected) below `least_v`. Healthy large models
        have second moments that small: a note, like the others, once each.
    What to do
        Lower the learning rate or clip when the moments grow; use a smaller eps, or a larger loss scale, when they
        vanish.
    Example
        step 200, rank 0: the norm of Adam's first moments is 3.2, 1.9 times the 1.7 of step 100; expected at most 1.5
        times. Lower the learning rate, or clip.
    """

    needs: ClassVar[tuple[type[Health]]] = (Health,)
    symptom: ClassVar[str] = "none"
    remedies: ClassVar[tuple[str, ...]] = (
        "moments that grow: lower the learning rate, or clip before step()",
        "second moments that vanish: use a smaller eps, or raise the loss scale",
    )
    proved_by: ClassVar[str] = "optimizer/tiny_loss_scale"

    times: float = 0.0  # of the first settled norm of exp_avg, 0 is off (1.5 with `--preset seed`)
    rise: float = 0.0  # growth of that norm from one look to the next, 0 is off (0.15 with `--preset seed`)
    in_a_row: int = 5  # looks that grow so (the articles look at every step, the snapshots here are rarer)
    least_v: float = 0.0  # smallest exp_avg_sq, 0 is off (1e-10 with `--preset seed`)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield at most one note for each of the limits."""
        if not window.new(Health) or not (self.times or self.rise or self.least_v):
            return
        memory = window.memory(self)
        fact = taken(window)[-1:]
        if fact and self.least_v and "v" not in memory:
            for finding in self.vanished(window, fact[0]):
                memory["v"] = True
                yield finding
        norms: list[tuple[int, float]] = memory.setdefault("norms", [])
        if fact and (norm := moments_l2(fact[0])) > 0 and fact[0].ref.step >= SETTLED:
            norms.append((fact[0].ref.step, norm))
            if "m" not in memory and (text := self.grown(norms)):
                memory["m"] = True
                yield self.finding(
                    window,
                    "note",
                    f"the norm of Adam's first moments is {norm:.3g}, {text}. Lower the learning rate, or clip.",
                    ref=fact[0].ref,
                    moment_l2=norm,
                )

    def grown(self, norms: Sequence[tuple[int, float]]) -> str:
        """What the norms show, or nothing."""
        step, first = norms[0]
        last = norms[-1][1]
        if 0 < self.times * first < last:
            return f"{last / first:.2g} times the {first:.3g} of step {step}; expected at most {self.times:g} times"
        looks = [norm for _, norm in norms[-self.in_a_row - 1 :]]
        steps = [after / before for before, after in itertools.pairwise(looks)]
        if self.rise and len(steps) == self.in_a_row and min(steps) > 1 + self.rise:
            return f"larger by {min(steps) - 1:.0%} or more in {len(steps)} looks in a row; expected at most one or two"
        return ""

    def vanished(self, window: Window, fact: Health) -> Iterator[Finding]:
        """Yield a note for the smallest second moment of all."""
        rows = [param for param in fact.params if param.least_v is not None and as_float(param.least_v) > 0]
        least = min(rows, key=lambda param: as_float(param.least_v or 0.0), default=None)
        if least is not None and as_float(least.least_v or 0.0) < self.least_v:
            yield self.finding(
                window,
                "note",
                f"the smallest second moment of Adam is {as_float(least.least_v or 0.0):.2g}, in {least.name}; "
                f"expected at least {self.least_v:g}. Look at its gradients, at eps and at the scale of the loss.",
                ref=fact.ref,
                place=Place(param=least.name, module=least.name.rpartition(".")[0]),
                least_v=as_float(least.least_v or 0.0),
            )


def moments_l2(fact: Health) -> float:
    """The norm of the first moments of all parameters together; 0 where there are none or one is not finite."""
    total = sum(as_float(param.moment_l2) ** 2 for param in fact.params if param.moment_l2 is not None)
    return math.sqrt(total) if math.isfinite(total) else 0.0
