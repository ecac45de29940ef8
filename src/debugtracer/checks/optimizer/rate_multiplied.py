"""Does a schedule that goes by steps lower the learning rate?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.spikes.lines import lines
from debugtracer.spikes.monitor import monitor
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.facts.order import StepOrder
from debugtracer.trace.facts.schedule import Rate
from debugtracer.trace.facts.turns_taken import TurnsTaken
from debugtracer.trace.facts.wiring import Wiring
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import GRAD_L2, LOSS, LR, Window

MOST = 256  # moves that are remembered (ours)


@dataclass
class Moves:
    """The moves of the learning rate of a run with one optimizer."""

    begin: Rate | None = None
    """The rate of the first update."""
    latest: Rate | None = None
    several: bool = False
    first: float = 0.0
    last: float = 0.0
    updates: int = 0
    factors: list[float] = field(default_factory=list)
    """By what each move has multiplied the rate."""
    best: float = float("inf")
    best_step: int = 0
    told: bool = False

    def see(self, window: Window) -> None:
        """Take what a window has of the rate."""
        for fact in window.new(Rate):
            self.several = self.several or (self.begin is not None and fact.optimizer != self.begin.optimizer)
            self.begin, self.latest = self.begin or fact, fact
        rate = window.now(LR)
        if rate is None:
            return
        self.first = self.first or rate
        if self.updates and rate != self.last and len(self.factors) < MOST:
            self.factors.append(rate / self.last if self.last > 0 else 0.0)
        self.last, self.updates = rate, self.updates + 1


class RateMultiplied(Check, frozen=True):
    """A schedule multiplies the learning rate by more than 1 every few epochs, until the loss leaves its level.

    What it catches
        `StepLR(optimizer, 6, gamma=2.0)` where the half was meant, `ExponentialLR(gamma=1.05)`, a factor 10 for 0.1, a
        file of settings with the one for the other.
    Why it matters
        The loss falls at first. Each step of the schedule then makes the updates larger, until what was learnt is lost.
    How it decides
        All moves of the learning rate of the only optimizer, `moves` or more, have multiplied it by one factor of
        `factor` or more (to one percent); there are updates between them, most of them (a search for a rate and a
        warm-up move it in each); it is `times` what it was. The medians of the last two blocks of 16 losses are `rise`
        times the lowest one. Not where the loss chases a moving target.
    What to do
        Take the factor's inverse: gamma=0.5.
    Example
        step 431, rank 0: StepLR (train.py:77) multiplied the learning rate by 2 in each of 5 moves, to 0.032, 32 times
        the first; the loss was 0.0797 at step 239 and is 0.5 now; expected a factor below 1. Use 0.5.
    """

    needs: ClassVar[tuple[str | type[Fact], ...]] = (LOSS, GRAD_L2, LR, Rate, StepOrder, TurnsTaken, Wiring)
    kind: ClassVar[str] = "scheduler_misuse"
    symptom: ClassVar[str] = "loss_spike"
    confidence: ClassVar[float] = 0.85
    remedies: ClassVar[tuple[str, ...]] = (
        "take the factor's inverse: gamma=0.5 where it is 2.0",
        "print the learning rate of each epoch before the first one is trained",
    )
    proved_by: ClassVar[str] = "optimizer/bell_foundry"

    moves: int = 3  # of the rate (ours: two may be a warm-up by hand)
    factor: float = 1.04  # of each (ours)
    times: float = 4.0  # the first rate (ours)
    rise: float = 2.0  # times the lowest block of losses (ours)
    moved: float = 0.25  # of all updates, in which the rate moves at most (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Judge each block of losses; said once."""
        seen: Moves = window.memory(self).setdefault("moves", Moves())
        seen.see(window)
        monitored = monitor(window)
        level = monitored.level
        if seen.told or not monitored.new_block:
            return
        if level.now < seen.best:
            seen.best, seen.best_step = level.now, window.ref.step
        gone = len(level.medians) > 1 and min(level.now, level.medians[-2]) >= self.rise * seen.best > 0
        if gone and level.least >= 0 and not monitored.excused and self.is_multiplied(seen) and seen.begin is not None:
            seen.told = True
            yield self.describe(window, seen, seen.begin, level.now)

    def is_multiplied(self, seen: Moves) -> bool:
        """Whether each move took the rate up by one factor, with updates between them."""
        factors = seen.factors
        return (
            not seen.several
            and self.moves <= len(factors) <= self.moved * seen.updates
            and min(factors) >= self.factor
            and max(factors) - 1 <= 1.01 * (min(factors) - 1)
            and seen.last >= self.times * seen.first > 0
        )

    def describe(self, window: Window, seen: Moves, begin: Rate, now: float) -> Finding:
        """Build the finding with the line of the schedule."""
        factor, last = seen.factors[0], seen.latest or begin
        frame = begin.value_frame or begin.scheduler_frame or last.rate_frame or begin.rate_frame or begin.frame
        by = begin.scheduler or "the program"
        return self.finding(
            window,
            "warning",
            f"{by}{spot(frame)} multiplied the learning rate by {factor:.3g} in each of {len(seen.factors)} moves, to "
            f"{seen.last:.3g}, {seen.last / seen.first:.3g} times the first; the loss was {seen.best:.3g} at step "
            f"{seen.best_step} and is {now:.3g} now; expected a factor below 1. Use {1 / factor:.3g}.",
            place=Place(frame=frame, symptom_frame=lines(window).symptom_frame),
            lr=seen.last,
            first=seen.first,
            factor=factor,
            loss=now,
            best=seen.best,
        )
