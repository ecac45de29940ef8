"""Do the running statistics of a batch norm follow its batches?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.lagging_statistics import LaggingStatistics
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class StatisticsLag(Check, frozen=True):
    """The running statistics of a batch norm are still mostly the mean 0 and variance 1 it was made with.

    What it catches
        A momentum taken over from a framework that counts the other way round: 0.999 there is 0.001 here, 0.99 is 0.01.
    Why it matters
        Training uses the statistics of the batch and looks well; evaluation uses the running ones, which have nothing
        to do with the data.
    How it decides
        When the run is over: it began new, has counted 100 batches or more, and momentum leaves 40 % or more of its
        first statistics in the running ones. What the batches were like follows from the two: the mean differs by
        `mean_gap` deviations or more, or the variance by `ratio` times.
    What to do
        momentum=0.1, torch's default; of a value from TensorFlow or Keras take 1 less it.
    Example
        step 299, rank 0: the running statistics of body.1 (train.py:21) are 74 % those it was made with after 300
        batches, since its momentum is 0.001; the variance of its batches is 9.1 times the running one; expected
        statistics of the data. Use momentum=0.1.
    """

    needs: ClassVar[tuple[type[LaggingStatistics]]] = (LaggingStatistics,)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "average_not_updated"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = (
        "momentum=0.1 (torch's default): the share of the new batch; Keras and TensorFlow give that of the old value",
        "or momentum=None for the plain mean over all batches",
    )
    proved_by: ClassVar[str] = "model/lime_kilns"

    mean_gap: float = 0.5  # deviations (ours)
    ratio: float = 1.5  # either way (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """The observer tells it once."""
        for fact in window.new(LaggingStatistics):
            gap, ratio = float(fact.mean_gap), float(fact.variance_ratio)
            if gap < self.mean_gap and 1 / self.ratio < ratio < self.ratio:
                continue
            more = f" ({fact.norms - 1} more are like it)" if fact.norms > 1 else ""
            yield self.finding(
                window,
                "warning",
                f"the running statistics of {fact.module or 'the batch norm'}{spot(fact.frame)}{more} are "
                f"{100 * float(fact.kept):.0f} % those it was made with after {fact.batches} batches, since its "
                f"momentum is {float(fact.momentum):.3g}; {self.seen(gap, ratio)}; expected statistics of the data. "
                "Use momentum=0.1.",
                ref=fact.ref,
                place=Place(frame=fact.frame, argument="momentum", module=fact.module),
                kept=float(fact.kept),
                momentum=float(fact.momentum),
            )

    def seen(self, gap: float, ratio: float) -> str:
        """What the batches were like beside the running statistics."""
        if gap >= self.mean_gap:
            return f"the mean of its batches is {gap:.2g} deviations from the running one"
        return f"the variance of its batches is {1 / ratio:.2g} times the running one"
