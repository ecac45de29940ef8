"""Does a warm-up end at the rate that follows it?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.facts.schedule import Rate, Schedule
from debugtracer.trace.finding import Finding
from debugtracer.trace.number import as_float
from debugtracer.trace.place import Place
from debugtracer.trace.step import StepRef
from debugtracer.trace.window import LR, Window


class WarmupOvershoot(Check, frozen=True):
    """A warm-up climbs by the whole rate in each update and falls back to it when it is over.

    What it catches
        `lr * (step + 1)` where `lr * (step + 1) / warmup_steps` was meant, in a schedule written by hand.
    Why it matters
        A warm-up of 50 steps ends at 50 times the rate. The loss need not become NaN: the weights are thrown far away,
        and the rest of the run mends what the warm-up broke.
    How it decides
        The rate rose by the same amount in each of at least five updates, then fell in one update to a tenth or less,
        the rate after it is that same amount (within 10 %), and the next one has not risen back: what goes on where it
        was had one rate set by somebody else. A warm-up that was divided by its length rises by that share of the rate
        which follows, and a search for a rate, which also rises and falls back, by something else.
    What to do
        Divide by the number of warm-up steps: the rate before the fall and the one after it are then the same.
    Example
        step 50, rank 0: the learning rate rose by 0.001 in each of 50 updates to 0.05 and fell to 0.001 in one;
        expected a warm-up that ends at the rate after it. Divide it by the number of its steps.
    """

    needs: ClassVar[tuple[str | type[Fact], ...]] = (LR, Rate, Schedule)
    kind: ClassVar[str] = "scheduler_misuse"
    symptom: ClassVar[str] = "no_learning"
    confidence: ClassVar[float] = 0.85
    remedies: ClassVar[tuple[str, ...]] = (
        "divide the factor of the warm-up by the number of its steps: lr * (step + 1) / warmup_steps",
        "print the rate in each of the first steps",
    )
    proved_by: ClassVar[str] = "optimizer/tide_tables"

    least: int = 5  # updates of a warm-up (ours)
    fall: float = 10.0  # times the rate after it (ours)
    stays: int = 2  # updates, that of the fall included, after which it has stayed (ours)
    close: float = 0.1  # between the rate and what it rose by (ours: a decay has begun)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Judge each fall of the rate; said once."""
        now, rates, notebook = window.now(LR), window.series.get(LR, ()), window.memory(self)
        if now is None or "told" in notebook:
            return
        if (fallen := notebook.get("fallen")) is not None:
            fallen.rates.append(now)
            if len(fallen.rates) >= self.stays:
                del notebook["fallen"]
            if now * self.fall > fallen.top * (1 + self.close):
                notebook.pop("fallen", None)  # it goes on where it was: somebody else set this one rate
            elif "fallen" not in notebook:
                notebook["told"] = True
                yield self.describe(window, fallen)
            return
        if now <= 0 or len(rates) <= self.least or rates[-2] < self.fall * now:
            return  # of each step no more than two numbers are asked
        before = window.before(LR)
        if len(before) <= self.least or before[-1] < self.fall * now:
            return
        rise, count = climb(before)
        if count >= self.least and math.isclose(rise, now, rel_tol=self.close):
            notebook["fallen"] = Fall(
                window.ref, rise, count, before[-1], [now], place(window.last(Rate), now, computed(window))
            )

    def describe(self, window: Window, fallen: Fall) -> Finding:
        """Build the finding, at the step of the fall."""
        return self.finding(
            window,
            "warning",
            f"the learning rate rose by {fallen.rise:.3g} in each of {fallen.count} updates to {fallen.top:.3g} and "
            f"fell to {fallen.rates[0]:.3g} in one; expected a warm-up that ends at the rate after it. Divide it by "
            "the number of its steps.",
            ref=fallen.ref,
            place=fallen.place,
            rise=fallen.rise,
            peak=fallen.top,
            lr=fallen.rates[0],
        )


@dataclass
class Fall:
    """A fall of the rate, until it is known whether the rate stays there."""

    ref: StepRef
    rise: float
    count: int
    top: float
    rates: list[float]
    """The rates since, that of the fall first."""
    place: Place | None


def place(fact: Rate | None, now: float, own: Frame | None = None) -> Place | None:
    """The line that made the rate climb; else that of the rate after the fall, whose function holds the warm-up as
    well. `own`: that of a scheduler class of the user's."""
    if fact is None or as_float(fact.high) != now:
        return None
    by_function = fact.climb_frame or fact.value_frame or fact.rate_frame or own
    return Place(frame=by_function or fact.scheduler_frame or fact.frame)


def computed(window: Window) -> Frame | None:
    """The line of the user's own scheduler that computed the rates before this one."""
    fact = window.last(Rate)
    climbed = [
        one.computed
        for one in window.seen(Schedule)
        if fact is not None and one.frame == fact.scheduler_frame and one.computed and one.ref.step < window.ref.step
    ]
    return climbed[-1] if climbed else None


def climb(values: tuple[float, ...]) -> tuple[float, int]:
    """The amount by which the last values rose each, and in how many updates running."""
    rise, count = values[-1] - values[-2], 0
    for low, high in zip(reversed(values[:-1]), reversed(values[1:]), strict=True):
        if not math.isclose(high - low, rise, rel_tol=1e-3):
            break
        count += 1
    return rise, count
