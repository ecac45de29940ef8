"""Does the loss of a classifier stay where guessing is?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.spikes.chance import Chance, chance
from debugtracer.spikes.level import BLOCK, BLOCKS
from debugtracer.spikes.monitor import monitor
from debugtracer.trace.facts.loaders import LoaderSeen
from debugtracer.trace.facts.loss_call import LossCall
from debugtracer.trace.finding import Finding, Severity
from debugtracer.trace.place import Place
from debugtracer.trace.window import LOSS, Window

SPAN = (BLOCKS - 1) * BLOCK  # steps that are remembered


class LossPlateau(Check, frozen=True):
    """The loss does not fall although there is much to learn.

    What it catches
        A model that guesses: labels that do not belong to their inputs, inputs that never reach the loss, a dead or
        frozen network, a learning rate of nearly 0 or far too high.
    Why it matters
        Nothing crashes; hours pass before somebody looks at the curve.
    How it decides
        Only where the loss is exactly one cross-entropy with a known number of classes C and one optimizer: chance is
        log C then. A note when over the last 200 steps, or one epoch if that is longer, the loss fell by less than 1 %
        of log C and stands above 50 % of it, of four classes or more that are no rows of the batch (a contrastive loss
        stays high when all is learnt): a task with much noise looks the same when it has converged, a hard one before
        it begins. A warning only when the model could have learnt its samples by heart and
        did not: 10 epochs, or 1,000 steps, and still both halves above 97 % of log C. Silent everywhere else: a
        regression, a GAN or a policy has no level that means "learnt nothing". Said once.
    What to do
        Overfit one batch: if that fails, the model or the update is broken; if it works, look at the labels of the full
        data.
    Example
        step 207, rank 0: the median loss of the last 208 steps went from 2.305 to 2.304; expected well below chance,
        log 10 = 2.303. Overfit one batch.
    """

    steps: int = 200  # steps without a fall (ours; smdebug says 10)
    epochs: int = 10  # passes over the data before a warning, ours
    many_steps: int = 1000  # steps before a warning where an epoch is longer or not known, ours
    guessing: float = 0.97  # of log C, ours
    poor: float = 0.5  # of log C: the loss of a model that has not learnt to be sure (ours)
    few: int = 4  # classes: of fewer a frequent one lowers what guessing costs, and half of it is far (ours)
    still: float = 0.01  # of log C: a smaller fall is none (ours; smdebug says 0.1 % of the loss)

    needs: ClassVar[tuple[type[LossCall] | str, ...]] = (LOSS, LossCall)
    kind: ClassVar[str | None] = None
    symptom: ClassVar[str] = "no_learning"
    remedies: ClassVar[tuple[str, ...]] = (
        (
            "overfit a single batch: if the loss does not reach 0, the model, the loss or the update is broken; if it "
            "does, look at the labels"
        ),
        "try ten times and a tenth of the learning rate",
    )
    family: ClassVar[str] = "loss"
    proved_by: ClassVar[str] = "model/zeros_everywhere"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Judge at the end of each block of losses."""
        seen = monitor(window)
        if not seen.new_block or seen.level.count < self.steps:
            return
        known = chance(window)
        if known is None:
            return
        epoch = self.epoch(window)
        needed = max(self.steps, epoch)
        if seen.level.count >= max(needed, min(self.epochs * epoch or self.many_steps, self.many_steps)):
            span = min(seen.level.count, SPAN)
            yield from self.stands(window, known, seen.level.halves(span), span, self.guessing, "warning")
        span = min(needed, SPAN)
        if seen.level.count >= needed and known.classes >= self.few and not contrastive(window):
            yield from self.stands(window, known, seen.level.halves(span), span, self.poor, "note")

    def stands(
        self,
        window: Window,
        known: Chance,
        halves: tuple[float, float] | None,
        span: int,
        share: float,
        severity: Severity,
    ) -> Iterator[Finding]:
        """Yield if the loss has not fallen and is above that share of chance; once a severity, no note after a
        warning."""
        told = window.memory(self)
        if halves is None or "warning" in told or severity in told:
            return
        if halves[0] - halves[1] < self.still * known.level and min(halves) > share * known.level:
            told[severity] = True
            yield self.describe(window, known, halves, span, severity)

    def describe(
        self, window: Window, known: Chance, halves: tuple[float, float], span: int, severity: Severity
    ) -> Finding:
        """Build the finding of a loss that stands still."""
        guesses = severity == "warning"
        return self.finding(
            window,
            severity,
            f"the median loss of the last {span} steps went from {halves[0]:.4g} to {halves[1]:.4g}; expected "
            f"{'well ' if guesses else ''}below {'' if guesses else 'half of '}chance, log {known.classes} = "
            f"{math.log(known.classes):.4g}. Overfit one batch.",
            place=Place(frame=known.frame),
            older=halves[0],
            younger=halves[1],
            chance=known.level,
        )

    def epoch(self, window: Window) -> int:
        """The steps of the longest epoch of a loader that trains; 0 if unknown."""
        loaders = [one for one in window.seen(LoaderSeen) if one.trains]
        return max((-(-one.length // one.batch_size) for one in loaders if one.length and one.batch_size), default=0)


def contrastive(window: Window) -> bool:
    """True where the classes are the rows of the batch, or the right one is the same in every row: one of many pairs is
    to be found, and how far above 0 the loss stays depends on the others and on the temperature."""
    calls = [call for call in window.seen(LossCall) if call.input_grad and call.counted > 1]
    return bool(calls) and all(call.input_shape[:1] == (call.classes,) or call.prior_entropy == 0.0 for call in calls)
