"""Does a margin loss leave its margin?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.spikes.monitor import monitor
from debugtracer.trace.facts.hinge_level import HingeLevel
from debugtracer.trace.facts.loaders import LoaderSeen
from debugtracer.trace.facts.wiring import Wiring
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.number import as_float
from debugtracer.trace.place import Place
from debugtracer.trace.window import LOSS, Window


class LossAtMargin(Check, frozen=True):
    """A triplet or ranking loss stands at its margin: the two distances, or scores, are equal in every row.

    What it catches
        A triplet whose positive and negative are given the wrong way round, a ranking target of the wrong sign, mining
        of the hardest alone or a rate that is too high: the outputs of all samples become one point.
    Why it matters
        The loss stands at a plausible value, and what is learnt tells nothing apart.
    How it decides
        In inspected steps the rows of `margin_ranking_loss` and `triplet_margin_loss` are read, and those of a cut at 0
        by hand (`relu(near - far + margin).mean()`), one number a row. From step `late` on all of them lie within
        `near` of the margin, and the last `losses` losses of the run within `agree` of it, which is needed of a cut by
        hand; of the others a second look that is the same is enough. Said where a row was `apart` or more from it in
        the first look, or, of a loss that began there, after `looks` looks: networks that are not trained yet are there
        too. Silent with several optimizers: two players may stand at their hinges for good.
    What to do
        Print both distances beside the labels: which one is to be small? Look at the order of the arguments, and at the
        spread of the outputs over a batch.
    Example
        step 116, rank 0: margin_ranking_loss (train.py:117) stands at its margin: in step 100 each of 64 rows is within
        1.2% of 0.2, up to 64% away in step 0; expected two sides that differ. All outputs have become one point: look
        at the order of the arguments.
    """

    needs: ClassVar[tuple[type | str, ...]] = (HingeLevel, LoaderSeen, LOSS, Wiring)
    kind: ClassVar[str] = "loss_misuse"
    symptom: ClassVar[str] = "no_learning"
    confidence: ClassVar[float] = 0.65
    remedies: ClassVar[tuple[str, ...]] = (
        "print both distances (or scores) beside the labels: the near and the far one, the sign of the target, may be "
        "given the wrong way round",
        "print the standard deviation of the outputs over a batch: if it is 0 they are one point; lower the rate, take "
        "off what pulls them together, and mine semi-hard triplets in place of the hardest",
    )
    proved_by: ClassVar[str] = "model/kiln_marks"

    near: float = 0.05  # of the margin, each row (ours: rows that tell apart differ by more)
    apart: float = 0.15  # of the margin, one row of the first look (ours: three times as far)
    agree: float = 0.1  # of the margin, each loss (ours: a small penalty may be added)
    late: int = 50  # steps (ours: a network that learns has left it by then)
    losses: int = 16  # in a row (ours)
    looks: int = 4  # of a loss that began at its margin (ours)
    passes: int = 3  # over the data (ours)
    steps: int = 500  # where a pass is longer, or not known (ours)
    below: float = 0.97  # of the margin, a block of losses (ours: one that learns is below it in some dozen steps)
    above: float = 1.3  # of the margin, the last block (ours: outputs that differ at random cost more than one point)
    half: float = 0.2  # from half of the rows (ours: 64 rows of guesses are within 0.13)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Follow each line; said once."""
        memory = window.memory(self)
        for fact in window.new(HingeLevel):
            first, looks = memory.get(fact.key(), (fact, []))
            stands = as_float(fact.off) <= self.near and fact.ref.step >= self.late
            memory[fact.key()] = first, [*looks, fact][-self.looks :] if stands else []
        wiring = window.last(Wiring)
        if "told" in memory or not memory or (wiring is not None and len(wiring.optimizers) > 1):
            return
        for first, looks in memory.values():
            late = looks and self.stands(window, first, looks)
            if late or self.guesses(window, first):
                memory["told"] = first, []
                yield self.describe(window, first, looks) if late else self.describe_guesses(window, first)
                return

    def stands(self, window: Window, first: HingeLevel, looks: list[HingeLevel]) -> bool:
        """Whether all rows of a line are at the margin, and the losses since."""
        agrees = window.ref.step - looks[0].ref.step >= self.losses and self.agrees(window, as_float(looks[-1].margin))
        stood = agrees or (not first.by_hand and len(looks) > 1)
        return stood and (as_float(first.off) >= self.apart or len(looks) >= self.looks)

    def agrees(self, window: Window, margin: float) -> bool:
        """Whether the last losses are near the margin."""
        last = window.finite(LOSS)[-self.losses :]
        return len(last) == self.losses and all(abs(v / margin - 1) <= self.agree for v in last)

    def guesses(self, window: Window, first: HingeLevel) -> bool:
        """Whether no block of losses was below the margin, and half of the rows are right."""
        level, margin = monitor(window).level, as_float(first.margin)
        needed = min(self.passes * epoch(window) or self.steps, self.steps)
        if first.by_hand or level.count < max(needed, self.late) or level.best < self.below * margin:
            return False
        seen = [fact for fact in window.seen(HingeLevel) if fact.key() == first.key()]
        late = [fact for fact in seen if fact.ref.step >= self.late]
        half = bool(late) and all(abs(fact.right - 0.5) <= self.half for fact in late)
        return half and level.now <= self.above * margin

    def describe(self, window: Window, first: HingeLevel, looks: list[HingeLevel]) -> Finding:
        """Build the finding with how far the rows were from the margin in the first look."""
        fact, collapsed = looks[0], as_float(first.off) >= self.apart
        before = f", up to {as_float(first.off):.2g} times it away in step {first.ref.step}" if collapsed else ""
        many = f", and in {len(looks) - 1} looks since" if len(looks) > 1 else ""
        what = "have become" if collapsed else "are"
        return self.finding(
            window,
            "warning",
            f"{fact.function}{spot(fact.frame)} stands at its margin: in step {fact.ref.step} each of {fact.rows} rows "
            f"is within {as_float(fact.off):.2%} of {as_float(fact.margin):.4g}{before}{many}; expected two sides that "
            f"differ. The outputs of all samples {what} one point: look at the order of the arguments.",
            ref=fact.ref,
            place=Place(frame=fact.frame),
            off=as_float(fact.off),
            first=as_float(first.off),
        )

    def describe_guesses(self, window: Window, first: HingeLevel) -> Finding:
        """Build the finding of a loss that one point would have, too."""
        level, fact = (
            monitor(window).level,
            next(f for f in reversed(window.seen(HingeLevel)) if f.key() == first.key()),
        )
        return self.finding(
            window,
            "warning",
            f"{fact.function}{spot(fact.frame)} is no better than for one point: no median of 16 of the "
            f"{level.count} losses so far is below {level.best:.4g}, the margin is {as_float(fact.margin):.4g}, and "
            f"{fact.right:.0%} of {fact.rows} rows are right in step {fact.ref.step}; expected a loss below the "
            "margin. Look at the order of the arguments.",
            ref=first.ref,
            place=Place(frame=fact.frame),
            right=fact.right,
            best=level.best,
        )


def epoch(window: Window) -> int:
    """The steps of the longest epoch of a loader that trains; 0 if unknown."""
    loaders = [one for one in window.seen(LoaderSeen) if one.trains]
    return max((-(-one.length // one.batch_size) for one in loaders if one.length and one.batch_size), default=0)
