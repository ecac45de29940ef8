"""How large are the updates beside the weights?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from statistics import median
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.checks.snapshots import always, is_matrix, ratio, taken
from debugtracer.spikes.lines import rate_at
from debugtracer.spikes.monitor import monitor
from debugtracer.trace.facts.health import Health, ParamDynamics, TensorHealth
from debugtracer.trace.finding import Finding
from debugtracer.trace.number import as_float
from debugtracer.trace.place import Place
from debugtracer.trace.window import LOSS, Window

FIRST = 3  # losses whose median the run began with (ours)
THROWN = 10.0  # times the first loss: no easy batch, but updates that threw the run away (ours)
SMALL = 0.3  # of 1/sqrt(fan in), in which torch's default has 0.58 and He's 1.4 (ours)


class UpdateRatio(Check, frozen=True):
    """One step changes a weight by half of the weight itself, or by next to nothing.

    What it catches
        A learning rate that is orders of magnitude too high or too low.
    Why it matters
        There the weights are replaced within two steps: nothing learnt stays. Below 1e-7 float32 rounds the change
        away.
    How it decides
        norm(update)/norm(weight) of matrices of at least 64 values whose weight is not near zero: above `replaced` in
        the last `snapshots` snapshots is a warning, above `high` a note, both only once the loss has suffered: its
        median over the last `losses` steps is not below where it began, and does not come down from a rise to less than
        ten times. Below `low` (with a learning rate and a gradient) is a note. Healthy is 1e-4 to 1e-2.
    What to do
        Try a lower learning rate for some hundred steps, and compare the losses.
    Example
        step 0, rank 0: the step changes fc.weight by 3.2 times its norm (lr 1.0, SGD) and the loss, 2.41, is not below
        the 2.35 it began with; expected 1e-4 to 1e-2 and a loss that falls. Try a lower learning rate.
    """

    needs: ClassVar[tuple[type[Health]]] = (Health,)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "lr_too_high"
    symptom: ClassVar[str] = "no_learning"
    confidence: ClassVar[float] = 0.7
    remedies: ClassVar[tuple[str, ...]] = (
        "try a lower learning rate for some hundred steps, by factors of 3, and compare the losses",
        "warm the learning rate up over the first steps",
    )
    family: ClassVar[str] = "update"
    suspects: ClassVar[tuple[str, ...]] = ("exploding-gradients",)
    proved_by: ClassVar[str] = "optimizer/lr_in_wrong_unit"

    replaced: float = 0.5  # norm(update)/norm(weight): little of the weight stays (ours; smdebug alarms at 10)
    high: float = 0.1  # for a note (healthy layers change by 1e-4 to 1e-2 a step)
    low: float = 1e-7  # for a note (ours; smdebug says 1e-8)
    snapshots: int = 2  # snapshots in a row in which it must hold (ours)
    losses: int = 20  # steps whose median loss is compared; half of a shorter run at its end (ours)
    least: int = 8  # losses of a run that has to say something (ours)
    fallen: float = 0.98  # of the loss it began with: above it has not fallen (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """The parameter with the largest update, once the loss suffers; a note about the smallest."""
        memory, (began, now) = window.memory(self), self.fall(window)
        if window.new(Health):
            yield from self.look(window)
        if now is None or "large" not in memory:
            return
        if self.fallen * began < now < THROWN * began and self.comes_down(window):
            return  # a large rate that is meant makes the loss rise first: what it does then is waited for
        facts, worst, severity = memory.pop("large")  # from a loss that falls nothing is concluded later
        if now > self.fallen * began and not monitor(window).excused:
            yield self.describe(window, facts, worst, severity, (began, now))

    def look(self, window: Window) -> Iterator[Finding]:
        """Remember large updates until the loss has spoken; yield for updates of nothing."""
        facts = taken(window)[-self.snapshots :]
        if len(facts) < self.snapshots:
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
        self.measured(window, "update by weight, the largest of a layer", ratio(worst) or 0.0, self.high)
        for limit, severity in ((self.replaced, "warning"), (self.high, "note")):
            if always(facts, worst.name, lambda p, limit=limit: (ratio(p) or 0.0) > limit):  # type: ignore[misc]
                known = window.memory(self).get("large")
                if known is None or known[2] < severity:
                    window.memory(self)["large"] = facts, worst, severity
                return
        if all(always(facts, p.name, lambda p: self.rests(p)) for p in rows):
            yield self.describe(window, facts, worst, "note")

    def fall(self, window: Window) -> tuple[float, float | None]:
        """Return the loss that the run began with and the loss now; None for the second while it is too early."""
        memory = window.memory(self)
        values = window.finite(LOSS)
        if len(values) < FIRST and "began" not in memory:
            return 0.0, None  # one loss alone may be that of an easy batch
        began: float = memory.setdefault("began", begun(values[:FIRST]))
        enough = self.losses if not window.ended else self.least
        if len(values) < enough:
            return began, None
        return began, median(values[-min(self.losses, max(len(values) // 2, 1)) :])

    def comes_down(self, window: Window) -> bool:
        """Whether the loss falls now, in a run that goes on."""
        values = window.finite(LOSS)[-self.losses :]
        half = len(values) // 2
        return not window.ended and half > 0 and median(values[half:]) < self.fallen * median(values[:half])

    def rests(self, update: ParamDynamics) -> bool:
        """True when there is next to no change although there are a rate and a gradient."""
        return (ratio(update) or 1.0) < self.low and as_float(update.lr) > 0 and as_float(update.grad_l2 or 0.0) > 0

    def describe(
        self,
        window: Window,
        facts: list[Health],
        worst: ParamDynamics,
        severity: str,
        fell: tuple[float, float] | None = None,
    ) -> Finding:
        """Where, how much, at which rate."""
        value = ratio(worst) or 0.0
        said, expected, advice = "", "", "Multiply the learning rate by 10."
        if fell is not None:
            said = f" and the loss, {fell[1]:.3g}, is not below the {fell[0]:.3g} it began with"
            expected, advice = " and a loss that falls", "Try a lower learning rate."
        return self.finding(
            window,
            severity,  # type: ignore[arg-type]
            f"the step changes {worst.name} by {value:.2g} times its norm (lr {as_float(worst.lr):.3g}, "
            f"{worst.optimizer}){said}; expected 1e-4 to 1e-2{expected}. {advice}",
            ref=facts[0].ref,
            place=Place(param=worst.name, module=worst.name.rpartition(".")[0], frame=rate_at(window, worst.optimizer)),
            ratio=value,
        )


def begun(first: Sequence[float]) -> float:
    """What a run began with: the median of its first losses; the first alone where the first updates threw it away."""
    usual = median(first)
    return first[0] if 0 < THROWN * first[0] < usual else usual


def judgeable(update: ParamDynamics) -> bool:
    """True for a weight large enough to have a size of its own, and not near zero."""
    return update.numel >= 64 and ratio(update) is not None and as_float(update.weight_l2) > 1e-3 * update.numel**0.5


def full_grown(row: TensorHealth, update: ParamDynamics) -> bool:
    """True for a size near 1/sqrt(fan in): a head that starts at zero or with a small gain rightly grows fast."""
    fan_in = max(math.prod(row.shape[1:]), 1)
    return as_float(update.weight_l2) > SMALL * math.sqrt(update.numel / fan_in)
