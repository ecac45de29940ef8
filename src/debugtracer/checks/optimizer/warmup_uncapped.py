"""Does a warm-up end?"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.spikes.level import Level
from debugtracer.spikes.lines import lines
from debugtracer.spikes.monitor import monitor
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.facts.order import StepOrder
from debugtracer.trace.facts.schedule import Rate, Schedule
from debugtracer.trace.facts.turns_taken import TurnsTaken
from debugtracer.trace.facts.wiring import Wiring
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import GRAD_L2, LOSS, LR, Window

CAPPED = re.compile(r"\b(min|minimum|clip|clamp)\(| if .* else ")
DIVIDE = "divide what the warm-up adds in each update by the number of its steps: base_lr / warmup_steps"


@dataclass
class Climb:
    """The way of the learning rate of a run with one optimizer."""

    begin: Rate | None = None
    """The rate of the first update."""
    several: bool = False
    first: float = 0.0
    first_step: int = 0
    last: float = 0.0
    last_step: int = 0
    slope: float = 0.0
    """By how much it rose in the last step."""
    moves: int = 0
    rises: int = 0
    rises_at_best: int = 0
    """Rises up to the end of the lowest block of losses."""
    rate_at_best: float = 0.0
    """The rate at that time."""
    best: float = float("inf")
    best_step: int = 0
    told: bool = False

    def see(self, window: Window) -> None:
        """Take what a window has of the rate."""
        for fact in window.new(Rate):
            self.several = self.several or (self.begin is not None and fact.optimizer != self.begin.optimizer)
            if fact.number == 0 and self.begin is None:
                self.begin = fact
        rate, step = window.now(LR), window.ref.step
        if rate is None or (self.moves and step <= self.last_step):
            return
        if not self.moves:
            self.first, self.first_step = rate, step
        else:
            self.rises += rate > self.last
            self.slope = (rate - self.last) / (step - self.last_step)
        self.last, self.last_step, self.moves = rate, step, self.moves + 1

    def is_straight(self) -> bool:
        """Whether it rose last by about as much as in all steps before."""
        mean = (self.last - self.first) / max(self.last_step - self.first_step, 1)
        return mean > 0 and mean / 2 <= self.slope <= 2 * mean


class WarmupUncapped(Check, frozen=True):
    """A warm-up rises in each update of the run, past the rate that was chosen, until the loss leaves its level.

    What it catches
        `LambdaLR(optimizer, lambda step: (step + 1) / warmup)` where `min(1.0, (step + 1) / warmup)` was meant; a
        warm-up scheduler of one's own that is stepped on after the steps it was built for; a schedule written by hand
        with `max` for `min`.
    Why it matters
        The loss falls well at first. The rate then passes what the model can bear, and what was learnt is lost again.
    How it decides
        A scheduler moves the only optimizer, from below the rate that it was built with to `times` of it or more; or a
        line of the program writes the rate, to `times` of what it was when the loss was lowest. The rate has risen in
        nine of ten updates, last by about as much as on average (most searches for a rate multiply it). The medians of
        the last two blocks of 16 losses are twice the lowest one, or have lost half of the way from the first one to
        it, where that was a tenth (of a rate by hand the latter alone), and the rate rose in `since` updates at least
        since that. Where each update adds the rate that was chosen, the warm-up was not divided by its steps. Not where
        the line of the rate has a cap, or the loss chases a moving target. The line is that of the schedule; of a
        scheduler that says for how many steps it is made and has been stepped more often, that of its step(); of a
        class of the user's that of its get_lr.
    What to do
        End the warm-up: `min(1.0, (step + 1) / warmup)`, or `LinearLR(optimizer, 1 / warmup, total_iters=warmup)`.
    Example
        step 431, rank 0: LambdaLR (train.py:77) raised the learning rate in 431 of 431 updates, to 0.0162, 10.8 times
        the 0.0015 that Adam was built with; the loss was 0.0797 at step 239, when the rate was lower, and is 0.5 now;
        expected a warm-up that ends. Cap its factor: min(1.0, ...).
    """

    needs: ClassVar[tuple[str | type[Fact], ...]] = (LOSS, GRAD_L2, LR, Rate, Schedule, StepOrder, TurnsTaken, Wiring)
    kind: ClassVar[str] = "scheduler_misuse"
    symptom: ClassVar[str] = "loss_spike"
    confidence: ClassVar[float] = 0.85
    remedies: ClassVar[tuple[str, ...]] = (
        "cap the factor of the warm-up: min(1.0, (step + 1) / warmup)",
        "or use torch.optim.lr_scheduler.LinearLR(optimizer, 1 / warmup, total_iters=warmup)",
    )
    proved_by: ClassVar[str] = "optimizer/kiln_glazes"

    times: float = 2.0  # the rate that the optimizer was built with (ours: nobody warms up beyond it)
    nearly: float = 0.9  # of all updates with a higher rate than the one before (ours)
    since: int = 5  # such updates since the loss was lowest (ours)
    rise: float = 2.0  # times the lowest block of losses (ours)
    learnt: float = 0.9  # times the first block: the lowest one had learnt something (ours)
    lost: float = 0.5  # of what was learnt since the first block: so much is gone again (ours)
    whole: float = 0.1  # between what an update adds and the rate that was chosen (ours)
    beyond: float = 1.25  # times the steps that a scheduler is made for (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Judge each block of losses; said once."""
        climb: Climb = window.memory(self).setdefault("climb", Climb())
        climb.see(window)
        monitored = monitor(window)
        level = monitored.level
        if climb.told or not monitored.new_block:
            return
        if level.now < climb.best:
            climb.best, climb.best_step, climb.rises_at_best = level.now, window.ref.step, climb.rises
            climb.rate_at_best = climb.last
        if self.is_gone(level, climb) and not monitored.excused and self.is_uncapped(climb) and climb.begin:
            climb.told = True
            yield self.describe(window, climb, climb.begin, level.now)

    def is_gone(self, level: Level, climb: Climb) -> bool:
        """Whether the last two blocks have lost what was learnt, or are far above the lowest one: that alone says
        nothing where nobody says which rate was chosen."""
        if level.least < 0 or len(level.medians) < 2:
            return False
        best, now = climb.best, min(level.now, level.medians[-2])
        lost = best <= self.learnt * level.first and now >= best + self.lost * (level.first - best)
        chosen = climb.begin is not None and bool(climb.begin.scheduler)
        return lost or (chosen and now >= self.rise * best > 0)

    def is_uncapped(self, climb: Climb) -> bool:
        """Whether the rate rose all the time, in a line, past what the optimizer was built with."""
        begin = climb.begin
        return (
            begin is not None
            and not climb.several
            and not self.is_capped(begin)
            and climb.last >= self.times * self.chosen(climb, begin) > 0
            and climb.rises >= self.nearly * (climb.moves - 1)
            and climb.slope > 0
            and climb.rises - climb.rises_at_best >= self.since
            and climb.is_straight()
        )

    def is_capped(self, begin: Rate) -> bool:
        """Whether the line of the rate says where it ends: it rises as it is meant to, and the data may be harder."""
        line = begin.value_frame if begin.scheduler else begin.rate_frame
        return line is not None and CAPPED.search(line.code) is not None

    def chosen(self, climb: Climb, begin: Rate) -> float:
        """The rate that a warm-up ends at, as far as somebody says so; 0 where there is none to end."""
        if not begin.scheduler:
            return climb.rate_at_best if begin.rate_frame is not None else 0.0
        built = float(begin.built or 0.0)
        return built if float(begin.high) < built else 0.0

    def describe(self, window: Window, climb: Climb, begin: Rate, now: float) -> Finding:
        """Build the finding with the line of the schedule."""
        plan = self.outlived(window, begin)
        chosen = self.chosen(climb, begin)
        own = computed(window, begin)
        frame = begin.value_frame or own or begin.scheduler_frame or begin.rate_frame or begin.frame
        base = f"{chosen:.3g} that {begin.kind} was built with" if begin.scheduler else f"{chosen:.3g} of then"
        then = "Cap its factor: min(1.0, ...)"
        remedies: tuple[str, ...] = ()
        if plan is not None:
            frame = plan.step_frame or frame
            made = f"It is made for {plan.horizon} steps ({plan.horizon_word})"
            then = f"{made}: stop stepping it{spot(plan.step_frame)} after them"
            remedies = (f"step {plan.kind} for its {plan.horizon} steps only", "or cap what its get_lr returns")
        elif begin.scheduler and math.isclose(climb.slope, chosen, rel_tol=self.whole):
            then = f"{climb.slope:.3g} is added in each update, that whole rate: divide it by the steps of the warm-up"
            remedies = (DIVIDE, *self.remedies)
        elif not begin.scheduler:
            then = "Cap the rate where it is computed, unless it is a search for one"
            remedies = ("cap the warm-up: min(rate of the decay, rate of the warm-up), or min(1.0, step / warmup)",)
        by = f"{begin.scheduler}{spot(begin.scheduler_frame)}" if begin.scheduler else f"the program{spot(frame)}"
        return self.finding(
            window,
            "warning",
            f"{by} raised the learning rate in {climb.rises} of "
            f"{climb.moves - 1} updates, to {climb.last:.3g}, {climb.last / chosen:.3g} times the {base}; "
            f"the loss was {climb.best:.3g} at step {climb.best_step}, when the rate was "
            f"lower, and is {now:.3g} now; expected a warm-up that ends. {then}.",
            place=Place(frame=frame, symptom_frame=lines(window).symptom_frame),
            confidence=None if begin.scheduler else 0.75,
            remedies=remedies,
            lr=climb.last,
            built=chosen,
            loss=now,
            best=climb.best,
        )

    def outlived(self, window: Window, begin: Rate) -> Schedule | None:
        """What is known of the scheduler of the first rate, where it was stepped more often than it is made for."""
        known = [fact for fact in window.seen(Schedule) if fact.frame == begin.scheduler_frame and fact.horizon]
        last = known[-1] if known else None
        return last if last is not None and last.last_epoch > self.beyond * (last.horizon or 0) else None


def computed(window: Window, rate: Rate) -> Frame | None:
    """The line of the user's own scheduler that computed the rate, where it is of a class of the user's."""
    own = [fact.computed for fact in window.seen(Schedule) if fact.frame == rate.scheduler_frame and fact.computed]
    return own[-1] if own else None
