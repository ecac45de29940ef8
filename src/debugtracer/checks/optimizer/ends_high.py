"""Does the run end soon after its learning rate went up again?"""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.schedule import RateHistory
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import LOSS, Window


class EndsHigh(Check, frozen=True):
    """The run ends just after a restart of the schedule, with a high learning rate and a worse loss than before.

    What it catches
        A period of warm restarts (CosineAnnealingWarmRestarts, a cycle of the program's own) that does not fit the
        length of the run.
    Why it matters
        The last weights, which most programs keep, are those of a high rate: worse than the ones before the restart.
    How it decides
        When the run is over, after `updates` updates: the last rate is `high` of the peak or more, the rate had been
        below `low` of the peak since then, that was within the last `late` of the run, and the median of the last
        `losses` losses is `worse` times that of as many before the restart, or more.
    What to do
        Let the cycles end with the run, or keep the weights from before the restart.
    Example
        step 299, rank 0: the learning rate of SGD (train.py:31) had fallen to 1e-05 by step 269 and is back at 0.0098
        where the run ends; the loss went from 0.108 to 0.182; expected a run that ends when a cycle ends. Choose T_0
        and T_mult for its length.
    """

    needs: ClassVar[tuple[str | type, ...]] = (RateHistory, LOSS)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "scheduler_misuse"
    symptom: ClassVar[str] = "loss_spike"
    confidence: ClassVar[float] = 0.8
    remedies: ClassVar[tuple[str, ...]] = (
        "choose the period so that a cycle ends with the run",
        "or keep the weights from before the last restart",
    )
    proved_by: ClassVar[str] = "optimizer/kelp_growth"

    updates: int = 100  # of the run (ours)
    high: float = 0.5  # of the peak at the end (ours)
    low: float = 0.05  # of the peak, between (ours: a cosine that has run down)
    late: float = 0.25  # of the run after that (ours)
    losses: int = 8  # on each side (ours)
    worse: float = 1.15  # times the loss before (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Judge each rate when the run is over."""
        for fact in window.new(RateHistory):
            before, after = self.both_sides(window, fact)
            if not self.is_late(fact) or before is None or after is None or after < self.worse * before:
                continue
            yield self.finding(
                window,
                "warning",
                f"the learning rate of {fact.kind}{spot(fact.frame)} had fallen to {float(fact.lowest):.3g} by step "
                f"{fact.lowest_step} and is back at {float(fact.rate):.3g} where the run ends; the loss went from "
                f"{before:.3g} to {after:.3g}; expected a run that ends when a cycle ends. "
                f"{self.advice(fact)}",
                ref=fact.ref,
                place=Place(frame=fact.scheduler_frame or fact.rate_frame or fact.frame),
                rate=float(fact.rate),
                lowest=float(fact.lowest),
            )

    def is_late(self, fact: RateHistory) -> bool:
        """Whether the rate went up again late in the run and is high at its end."""
        peak, since = float(fact.peak), fact.updates - fact.lowest_at
        return (
            fact.updates >= self.updates
            and float(fact.rate) >= self.high * peak
            and float(fact.lowest) <= self.low * peak
            and self.losses <= since <= self.late * fact.updates
        )

    def both_sides(self, window: Window, fact: RateHistory) -> tuple[float | None, float | None]:
        """The usual loss before the restart and at the end."""
        values = list(window.series.get(LOSS, ()))
        since = fact.updates - fact.lowest_at
        before, after = values[: max(len(values) - since, 0)][-self.losses :], values[-self.losses :]
        enough = len(before) >= self.losses and min(before) > 0
        return (median(before), median(after)) if enough else (None, None)

    def advice(self, fact: RateHistory) -> str:
        """What to choose, by kind of schedule."""
        if fact.scheduler == "CosineAnnealingWarmRestarts":
            return "Choose T_0 and T_mult for its length."
        return "Choose the period for its length."
