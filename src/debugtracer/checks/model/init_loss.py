"""Is the first loss what guessing would give?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import median
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.checks.snapshots import filled_at, rms, taken
from debugtracer.trace.counted import counted
from debugtracer.trace.facts.health import Health
from debugtracer.trace.facts.loss_call import LossCall
from debugtracer.trace.finding import Finding, Severity
from debugtracer.trace.number import as_float
from debugtracer.trace.place import Place
from debugtracer.trace.window import LOSS, Window


class InitLoss(Check, frozen=True):
    """The first cross-entropy is far above chance.

    What it catches
        A summed loss where a mean was meant, a head with too large weights, logits that are scaled.
    Why it matters
        A summed loss multiplies the gradient by the number of targets; a too confident head spends the first steps
        unlearning.
    How it decides
        At step 0, log C is what equal guesses cost (log 2 for binary). A loss more than `above` times that is told; if
        it is about the number of targets times log C, it is a sum. Pretrained weights may be below; class priors too;
        smoothing and class weights move it, so these are left alone. A sum can be meant: it is a warning where the loss
        only rises (the learning rate was meant for a mean), and nothing is said else. What is no sum is a note; a
        warning when it is more than `far` times chance, and still more than `above` times it after `rising` updates. A
        matrix with a row for each class is named then, where its weights alone make logits that wide.
    What to do
        Use reduction='mean', or make the last layer's initial weights small.
    Example
        step 0, rank 0: the first cross_entropy is 294.9, 128 times log 10 = 2.303 for 128 targets: a sum,
        and it has risen since; expected about 2.303. Use the mean.
    """

    needs: ClassVar[tuple[str | type, ...]] = (LossCall, LOSS, Health)
    kind: ClassVar[str] = "loss_misuse"
    symptom: ClassVar[str] = "loss_spike"
    confidence: ClassVar[float] = 0.75
    remedies: ClassVar[tuple[str, ...]] = (
        "use reduction='mean', or divide by the number of targets",
        "make the initial weights of the last layer small (std 0.02), also where they are tied to an embedding",
        "look at what scales the logits: a temperature that is stored as its logarithm, a division that is missing",
    )
    family: ClassVar[str] = "loss"
    proved_by: ClassVar[str] = "model/summed_loss"

    above: float = 3.0
    """Times chance (ours: 0.2 log C above chance is exceeded by half of all fresh networks)."""
    rising: int = 20
    """Losses after which the median of the last half may not lie above `twice` the first (ours)."""
    twice: float = 1.5
    """Times the first loss (ours)."""
    far: float = 10.0
    """Times chance (ours: no fresh network of the 75 healthy held-out programs is above 2)."""
    wide: float = 4.0
    """Standard deviation of logits from white features (ours, as for init-scale: torch's default is 0.58)."""

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield a finding about the calls of the first step; a sum is followed over several calls."""
        memory = window.memory(self)
        for call in window.new(LossCall):
            chance = guessing(call)
            if (
                call.ref.step != 0
                or chance is None
                or call.weighted
                or call.label_smoothing
                or not isinstance(call.value, float)
            ):
                continue
            now = window.now(LOSS)
            if is_sum(call) and now is not None and abs(now) < 0.5 * call.value:
                continue  # divided by the number of targets afterwards, as transformers does
            ratio = call.value / chance
            self.measured(window, "first loss by that of guessing", ratio, self.above)
            if ratio > self.above and call.key() not in memory:
                memory[call.key()] = call
                if not is_sum(call):  # of a sum the learning rate may be meant: told where its loss rises
                    yield self.describe(window, call, chance, ratio)
        losses = window.before(LOSS) if memory else ()
        if len(losses) == self.rising:
            yield from self.far_off(window, list(memory.values()), losses)
            for call in [c for c in memory.values() if is_sum(c) and abs(losses[0] - c.value) <= 0.01 * abs(c.value)]:
                if median(losses[self.rising // 2 :]) > self.twice * losses[0]:
                    yield self.describe(
                        window, call, guessing(call) or 1.0, call.value / (guessing(call) or 1.0), "warning"
                    )

    def far_off(self, window: Window, calls: list[LossCall], losses: tuple[float, ...]) -> Iterator[Finding]:
        """Yield for a classifier whose first loss is many times chance and has not come near it since."""
        now = median(losses[self.rising // 2 :])
        known = [(as_float(c.value or 0.0) / (guessing(c) or 1.0), c) for c in calls if not is_sum(c)]
        ratio, call = max(known, key=lambda one: one[0], default=(0.0, None))
        chance = guessing(call) if call is not None else None
        if call is None or chance is None or ratio <= self.far or now <= self.above * chance:
            return
        if abs(losses[0]) < 0.4 * as_float(call.value or 0.0):  # one of several terms with a small weight
            return
        head = self.head(window, call)
        name, gain = head or ("", 0.0)
        by = f"; {name} alone makes logits of a standard deviation of {gain:.2g}" if head else ""
        yield self.finding(
            window,
            "warning",
            f"the first {call.loss} is {as_float(call.value or 0.0):.4g}, {ratio:.3g} times log {call.classes or 2} = "
            f"{chance:.4g}, and after {self.rising} updates it is still {now:.4g}{by}; expected about {chance:.4g}. "
            "Look at what scales the logits, and make the initial weights of the last layer small.",
            ref=call.ref,
            place=Place(
                frame=(filled_at(window, name) if head else None) or call.frame,
                symptom_frame=call.frame,
                param=name or None,
                module=name.rpartition(".")[0] or None,
            ),
            kind="bad_init",
            confidence=0.85,
            ratio=ratio,
            chance=chance,
        )

    def head(self, window: Window, call: LossCall) -> tuple[str, float] | None:
        """The matrix with a row for each class whose weights alone make wide logits, and how wide."""
        facts = taken(window)
        rows = facts[0].of("weight").items() if facts else ()
        gains = [
            (rms(row) * math.sqrt(row.shape[1]), name)
            for name, row in rows
            if len(row.shape) == 2 and row.shape[0] == call.classes
        ]
        gain, name = max(gains, default=(0.0, ""))
        return (name, gain) if gain > self.wide else None

    def describe(
        self, window: Window, call: LossCall, chance: float, ratio: float, severity: Severity = "note"
    ) -> Finding:
        """The loss beside chance, and whether it is a sum."""
        count, summed = call.counted, is_sum(call)
        name = f"log {call.classes}" if call.classes else "log 2"
        rises = ", and it has risen since" if severity == "warning" else ""
        meaning = f" for {counted(count, 'target')}: a sum" if summed else ""
        return self.finding(
            window,
            severity,
            (
                f"the first {call.loss} is {call.value:.4g}, {ratio:.3g} times {name} = {chance:.4g}{meaning}{rises}; "
                f"expected about {chance:.4g}. "
            )
            + ("Use the mean." if summed else "Make the last layer's initial weights small."),
            ref=call.ref,
            place=Place(frame=call.frame),
            kind="loss_misuse" if summed else "bad_init",
            ratio=ratio,
            chance=chance,
        )


def is_sum(call: LossCall) -> bool:
    """True for a sum over several targets."""
    return call.reduction == "sum" and call.counted > 1


def guessing(call: LossCall) -> float | None:
    """What equal probabilities cost, nats."""
    if call.loss == "cross_entropy" and call.classes and call.classes > 1:
        return math.log(call.classes)
    return math.log(2) if call.loss == "binary_cross_entropy_with_logits" else None
