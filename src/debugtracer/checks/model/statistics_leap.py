"""Do the running statistics of a batch norm average over batches?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.leaping_statistics import LeapingStatistics
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class StatisticsLeap(Check, frozen=True):
    """The running statistics of a batch norm are those of its last batch.

    What it catches
        A momentum taken over from a framework that counts the other way round: 0.99 there is 0.01 here.
    Why it matters
        Training uses the statistics of the batch and looks well; evaluation and what is saved use those of whatever
        small batch came last, so that the result changes from epoch to epoch.
    How it decides
        The momentum is 0.9 or more, and in `steps` steps in a row the running mean of a channel leaps to and fro by
        `leap` deviations or more in the mean over channels. That it walks along with the weights is taken out. Large
        batches, whose means are all alike, say nothing.
    What to do
        momentum=0.1, torch's default; of a value from TensorFlow or Keras take 1 less it.
    Example
        step 15, rank 0: the running mean of blocks.0.norm (train.py:16) leaps to and fro by 0.52 deviations from batch
        to batch (6 steps in a row), since its momentum of 0.99 is the share of the new batch; expected an average over
        many. Use momentum=0.1.
    """

    needs: ClassVar[tuple[type[LeapingStatistics]]] = (LeapingStatistics,)
    kind: ClassVar[str] = "average_forgets"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.85
    remedies: ClassVar[tuple[str, ...]] = (
        "momentum=0.1 (torch's default): the share of the new batch; Keras and TensorFlow give that of the old value",
        "or momentum=None for the plain mean over all batches",
    )
    proved_by: ClassVar[str] = "model/salt_marsh"

    leap: float = 0.25
    """Deviations (ours: the means of two batches of about 20 values are as far apart)."""

    def judge(self, window: Window) -> Iterator[Finding]:
        """The observer tells it once."""
        for fact in window.new(LeapingStatistics):
            leap = float(fact.leap)
            self.measured(window, "leap of a running mean, deviations", leap, self.leap)
            if leap < self.leap:
                continue
            more = f" ({fact.norms - 1} more are like it)" if fact.norms > 1 else ""
            yield self.finding(
                window,
                "warning",
                f"the running mean of {fact.module or 'the batch norm'}{spot(fact.frame)}{more} leaps to and fro by "
                f"{leap:.2f} deviations from batch to batch ({fact.steps} steps in a row), since its momentum of "
                f"{float(fact.momentum):.3g} is the share of the new batch; expected an average over many. Use "
                "momentum=0.1.",
                ref=fact.ref,
                place=Place(frame=fact.frame, argument="momentum", module=fact.module),
                leap=leap,
                momentum=float(fact.momentum),
            )
