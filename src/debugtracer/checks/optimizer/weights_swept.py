"""Do the first updates leave anything of the initial weights?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import median
from typing import ClassVar, NamedTuple

from debugtracer.checks.check import Check
from debugtracer.checks.snapshots import taken
from debugtracer.spikes.chance import chance
from debugtracer.spikes.lines import lines
from debugtracer.spikes.monitor import EARLY, monitor
from debugtracer.spikes.summed_loss import MEAN, sum_place, sum_told, summed
from debugtracer.trace.facts.health import Health
from debugtracer.trace.facts.loss_call import LossCall
from debugtracer.trace.finding import Finding
from debugtracer.trace.number import as_float
from debugtracer.trace.window import LOSS, PARAM_L2, Window

SWEPT = 3.0  # times the norm after the first update (ours: a rate that learns stays below 1.1 in programs of others)
NEAR_ZERO = 1e-3  # root mean square of weights that have no size of their own yet (ours)


class Reference(NamedTuple):
    """A loss that is reached without having learnt anything from the inputs."""

    loss: float
    what: str


class WeightsSwept(Check, frozen=True):
    """The first updates are so large that the initial weights do not matter, and nothing is learnt afterwards.

    What it catches
        A learning rate that is a hundred times too high for an optimizer whose updates do not depend on the size of the
        gradient (Adam, AdamW, RMSprop), where clipping does not help: 3e-1 typed for 3e-3.
    Why it matters
        The network is thrown where its units are dead or saturated. The loss falls back to what a constant answer gives
        and stays there, which looks like a hard task.
    How it decides
        At the end of a run of at least `least` steps. The norm of all parameters reached `times` its value after the
        first update within the first 32, and the median of the last losses is not below what needs no input: 0.97 of
        the entropy of the classes, where the whole loss is one cross-entropy; or 0.95 of the first loss. A loss that
        still falls (below 0.98 of the losses before) leaves it open: a prompt begins near 0 and grows. Silent where all
        weights together began with a root mean square below 0.001: there is nothing to sweep away.
    What to do
        Divide the learning rate by 10, or by 100.
    Example
        step 1, rank 0: the first 32 updates multiplied the norm of all weights by 9.77, and after 300 steps the loss,
        3.38, is not below 3.31, the entropy of the classes; expected below 3 times, or a loss that falls. Lower the
        learning rate.
    """

    needs: ClassVar[tuple[str | type, ...]] = (LOSS, PARAM_L2, Health, LossCall)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "lr_too_high"
    symptom: ClassVar[str] = "no_learning"
    confidence: ClassVar[float] = 0.85
    remedies: ClassVar[tuple[str, ...]] = (
        "divide the learning rate by 10 and compare; for Adam and its kin 1e-3 is a usual start",
        "warm the learning rate up over the first steps",
    )
    family: ClassVar[str] = "update"
    proved_by: ClassVar[str] = "optimizer/signal_lamps"

    times: float = SWEPT  # the norm of all weights by that after the first update (ours)
    least: int = 100  # steps of a run that has to say something (ours)
    losses: int = 32  # last ones whose median is taken (ours)
    constant: float = 0.97  # of the entropy of the classes: no more than a constant answer (ours)
    began: float = 0.95  # of the first loss (ours)
    falls: float = 0.98  # of the losses before the last ones: training goes on (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Keep the first loss and the size of the weights; judge when the run is over."""
        memory, seen = window.memory(self), monitor(window)
        if "size" not in memory and (health := taken(window)):
            memory["size"] = size(health[0])
        if "first" not in memory:
            memory.update(zip(("first",), filter(math.isfinite, window.series.get(LOSS, ())), strict=False))
        self.measured(window, "norm of all weights by that after the first update", seen.swept, self.times)
        if not window.ended or seen.swept < self.times or seen.level.count < self.least or seen.excused:
            return
        if memory.get("size", math.inf) < NEAR_ZERO:
            return
        values = window.finite(LOSS)
        now, reference = median(values[-self.losses :]), self.reference(window, memory["first"])
        before = values[-2 * self.losses : -self.losses]
        falls = len(before) == self.losses and now < self.falls * median(before)
        if now > reference.loss > 0 and seen.level.least >= 0 and not falls:
            whole = summed(window)
            yield self.finding(
                window,
                "warning",
                f"the first {EARLY} updates multiplied the norm of all weights by {seen.swept:.3g}, and after "
                f"{seen.level.count} steps the loss, {now:.3g}, is not below {reference.loss:.3g}, {reference.what}"
                f"{sum_told(whole) if whole else ''}; expected below {self.times:g} times, or a loss that falls. "
                f"{MEAN if whole else 'Lower the learning rate.'}",
                remedies=(f"reduction='mean', or a rate divided by {whole.input_shape[0]}", *self.remedies)
                if whole
                else (),
                place=sum_place(whole) if whole else lines(window),
                times=seen.swept,
                loss=now,
                reference=reference.loss,
            )

    def reference(self, window: Window, first: float) -> Reference:
        """What the loss is compared with: the lower of the two, where both are known."""
        begun = Reference(self.began * first, f"{self.began:.0%} of the first")
        entropies = [as_float(c.prior_entropy) for c in window.seen(LossCall) if c.prior_entropy is not None]
        if not entropies or chance(window) is None:
            return begun
        prior = Reference(self.constant * median(entropies), f"{self.constant:.0%} of the entropy of the classes")
        return min(begun, prior)


def size(health: Health) -> float:
    """The root mean square of all weights at a snapshot, before its update."""
    squares = sum(as_float(p.weight_l2) ** 2 for p in health.params)
    return math.sqrt(squares / max(sum(p.numel for p in health.params), 1))
