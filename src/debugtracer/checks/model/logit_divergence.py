"""Do the logits stay where a softmax can learn from them?"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.logit_scale import LogitScale
from debugtracer.trace.finding import Finding, Severity
from debugtracer.trace.number import as_float
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class LogitDivergence(Check, frozen=True):
    """The logits of a cross-entropy run away while the loss stays high.

    What it catches
        log Z drifting off: no z-loss, no weight decay on the head, a rate that is too high late in a run, a regulariser
        with the wrong sign; or a model that is very sure and wrong.
    Why it matters
        cross-entropy does not see a shift of all logits, so nothing pulls it back; half precision loses the differences
        between the classes, and runs diverge late (Wortsman 2023, PaLM's z-loss).
    How it decides
        From step `warmup` on, while the cross-entropy itself stays above `high` log C: mean |log Z| above `times` its
        first value (at least log C), or a mean distance between the first and the second class above `gap`, in two
        looks in a row: a warning. Growth in each of the last three looks to more than `grown` times, with a loss that
        does not fall, is a note with the steps that are left at the present pace. Models that are confident and right
        have a low loss and are left alone, but for `surest` (`--preset seed`): a distance above it is a note then.
    What to do
        Add a z-loss (1e-4 * logits.logsumexp(-1) ** 2), decay the weights of the head, or lower the learning rate.
    Example
        step 300, rank 0: mean |log Z| of 48 classes is 52.1, from 4.02 at step 0, at a cross-entropy of 2.93 (log C is
        3.87); expected below 40.2. Add a z-loss, decay the weights of the head, or lower the learning rate.
    """

    needs: ClassVar[tuple[type[LogitScale]]] = (LogitScale,)
    kind: ClassVar[str] = "logit_divergence"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.7
    remedies: ClassVar[tuple[str, ...]] = (
        "add a z-loss: 1e-4 * logits.logsumexp(-1).square().mean()",
        "give the weights of the head weight decay",
        "lower the learning rate",
    )
    family: ClassVar[str] = "activation"
    proved_by: ClassVar[str] = "model/restless_logits"

    times: float = 10.0  # of the first mean |log Z|, at least log C (ours)
    gap: float = 10.0  # nats between the first and the second class (softmax gives the first of two 0.99995)
    high: float = 0.5  # of log C: the loss of a model that has not learnt to be sure (ours)
    grown: float = 3.0  # of the first mean |log Z|, for a note (ours)
    # nats between the first and the second class whatever the loss, 0 is off (10 with `--preset seed`)
    surest: float = 0.0
    warmup: int = 200  # steps learnt from before anything is said (ours)
    apart: int = 10  # steps between two looks that are compared (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Judge each new measurement of a line, beside those before it."""
        memory = window.memory(self)
        for now in window.new(LogitScale):
            if 0 < self.surest < as_float(now.gap) and ("sure", now.key()) not in memory:
                memory["sure", now.key()] = True
                yield self.too_sure(window, now)
            looks = memory.setdefault(("looks", now.key()), [])
            first = memory.setdefault(("first", now.key()), now)
            if not looks or now.ref.step - looks[-1].ref.step >= self.apart:
                looks.append(now)
                del looks[:-4]
                if now.ref.step >= self.warmup and now.classes > 1:
                    yield from self.describe(window, first, looks, memory)

    def describe(
        self, window: Window, first: LogitScale, looks: list[LogitScale], memory: dict[object, object]
    ) -> Iterator[Finding]:
        """Yield a warning when it is out of bounds twice, a note while it grows towards them."""
        now = looks[-1]
        base = max(as_float(first.log_z), math.log(now.classes))
        bound, loud = self.times * base, memory.get(("loud", now.key()))
        if len(looks) > 1 and all(self.lost(look, bound) for look in looks[-2:]):
            if not loud:
                memory["loud", now.key()] = True
                yield self.finding_of(window, "warning", first, now, bound, "")
        elif len(looks) == 4 and not loud and ("noted", now.key()) not in memory:
            sizes = [as_float(look.log_z) for look in looks]
            steps = [b - a for a, b in itertools.pairwise(sizes)]
            stays = all(self.is_high(look) for look in looks) and as_float(now.loss) > 0.9 * as_float(looks[0].loss)
            if stays and min(steps) > 0.1 * base and self.grown * base < sizes[-1] < bound:
                memory["noted", now.key()] = True
                pace = max(
                    math.log(sizes[-1] / sizes[-2]) / math.log(bound / sizes[-1]),
                    (sizes[-1] - sizes[-2]) / (bound - sizes[-1]),
                )
                left = (now.ref.step - looks[-2].ref.step) / pace
                yield self.finding_of(
                    window,
                    "note",
                    first,
                    now,
                    bound,
                    f", and grows ({bound:.3g} in about {left:.0f} steps at this pace)",
                )

    def too_sure(self, window: Window, now: LogitScale) -> Finding:
        """Build the note of the fixed rule on the distance between the first two classes."""
        return self.finding(
            window,
            "note",
            f"the first of {now.classes} classes is {as_float(now.gap):.3g} above the second on average; expected "
            f"below {self.surest:g}. A softmax has no gradient left there: smooth the labels, or add a z-loss.",
            ref=now.ref,
            place=Place(frame=now.frame),
            gap=as_float(now.gap),
        )

    def is_high(self, look: LogitScale) -> bool:
        """True while the loss is so high that the model has not learnt to be sure."""
        return as_float(look.loss) > self.high * math.log(look.classes)

    def lost(self, look: LogitScale, bound: float) -> bool:
        """True when the logits are out of bounds while the loss is high."""
        return self.is_high(look) and (as_float(look.log_z) > bound or as_float(look.gap) > self.gap)

    def finding_of(
        self, window: Window, severity: Severity, first: LogitScale, now: LogitScale, bound: float, more: str
    ) -> Finding:
        """Build the finding with the first value, the present one and the bound."""
        size, chance = as_float(now.log_z), math.log(now.classes)
        if severity == "note" or size > bound:
            what, expected = (
                (
                    f"mean |log Z| of {now.classes} classes is {size:.3g}, from {as_float(first.log_z):.3g} at step "
                    f"{first.ref.step}"
                ),
                f"{bound:.3g}",
            )
        else:
            what, expected = (
                f"the first of {now.classes} classes is {as_float(now.gap):.3g} above the second on average",
                f"{self.gap:g}",
            )
        return self.finding(
            window,
            severity,
            f"{what}{more}, at a cross-entropy of {as_float(now.loss):.3g} (log C is {chance:.3g}); expected below "
            f"{expected}. "
            "Add a z-loss, decay the weights of the head, or lower the learning rate.",
            ref=now.ref,
            place=Place(frame=now.frame),
            log_z=size,
            gap=as_float(now.gap),
        )
