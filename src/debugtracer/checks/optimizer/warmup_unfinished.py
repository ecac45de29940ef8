"""Does the run reach the learning rate that it warms up to?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.schedule import Rate
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.number import as_float
from debugtracer.trace.place import Place
from debugtracer.trace.window import LR, Window

ROOT = re.compile(r"\*\*|\b(pow|sqrt|rsqrt)\(")


class WarmupUnfinished(Check, frozen=True):
    """The run ends in the first part of its warm-up.

    What it catches
        A warm-up of 20,000 steps left from a big configuration in a run of 300; a warm-up counted in another unit than
        the one in which it is stepped.
    Why it matters
        The rate never comes near the one that was chosen; the loss falls so slowly that the model looks weak.
    How it decides
        When the run is over, after `updates` updates at least: the rate of one optimizer has risen at each step that is
        remembered, by steps of nearly one size, from the first update on, and is still below `reached` of the rate that
        the optimizer was built with. At its pace that rate is `runs` times the whole run away. Not where the line that
        gives the rate has a power or a root: an inverse square root peaks elsewhere than at the rate of the constructor
        (1 as a rule).
    What to do
        Size the warm-up for this run: a few per cent of its updates.
    Example
        step 299, rank 0: the learning rate of AdamW (train.py:31) rose through all 300 updates and ended at 4.5e-05,
        1.5 % of the 0.003 it was built with; expected a warm-up that ends early in the run: at this pace it takes 20000
        updates. Shorten the warm-up.
    """

    needs: ClassVar[tuple[str | type, ...]] = (LR, Rate)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "scheduler_misuse"
    symptom: ClassVar[str] = "no_learning"
    confidence: ClassVar[float] = 0.85
    remedies: ClassVar[tuple[str, ...]] = (
        "size the warm-up for this run: 1 to 5 % of its updates",
        "count it in the unit in which it is stepped: updates, not batches or samples",
    )
    proved_by: ClassVar[str] = "optimizer/lock_keepers"

    updates: int = 100  # of a run that has to say something (ours)
    reached: float = 0.25  # of the rate it was built with (ours)
    runs: float = 3.0  # times the run: a run that was stopped for a look is shorter than its warm-up, too (ours)
    even: float = 0.05  # share by which one rise may differ from another (ours: a linear warm-up; float32 is stored)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Count updates; judge when the run is over."""
        memory = window.memory(self)
        if LR in window.fresh:
            memory["count"] = memory.get("count", 0) + 1
        rates, first = list(window.series.get(LR, ())), window.last(Rate)
        count = memory.get("count", 0)
        if not window.ended or count < self.updates or first is None or first.built is None:
            return
        if len({fact.optimizer for fact in window.seen(Rate)}) > 1 or not self.rises(rates):
            return
        built, now = as_float(first.built), rates[-1]
        needed = count * built / now if now > 0 else 0.0
        if now >= self.reached * built or needed < self.runs * count or has_root(first):
            return
        yield self.finding(
            window,
            "warning",
            f"the learning rate of {first.kind}{spot(first.frame)} rose through all {count} updates and ended at "
            f"{now:.3g}, {100 * now / built:.3g} % of the {built:.3g} it was built with; expected a warm-up that ends "
            f"early in the run: at this pace it takes {needed:.0f} updates. Shorten the warm-up.",
            place=Place(frame=first.value_frame or first.scheduler_frame or first.frame),
            rate=now,
            built=built,
        )

    def rises(self, rates: list[float]) -> bool:
        """Whether the rate rises evenly; where the first ones are remembered, from 0 or nearly so."""
        steps = [b - a for a, b in pairwise(rates)]
        if not steps or min(steps) <= 0:
            return False
        return max(steps) <= (1 + self.even) * min(steps) + 1e-6 * max(rates)


def has_root(first: Rate) -> bool:
    """Whether the line that gives the rate raises something to a power."""
    lines = (first.value_frame, first.scheduler_frame, first.rate_frame)
    return any(ROOT.search(frame.code) for frame in lines if frame is not None)
