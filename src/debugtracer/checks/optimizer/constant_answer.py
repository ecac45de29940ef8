"""Does the loss get below what the best constant answer costs?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import fmean, median
from typing import ClassVar, NamedTuple

from debugtracer.checks.check import Check
from debugtracer.spikes.chance import chance
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.constant_answer import ConstantAnswer as Fact
from debugtracer.trace.facts.function_test import FunctionTest
from debugtracer.trace.facts.health import Health
from debugtracer.trace.facts.loaders import LoaderSeen
from debugtracer.trace.facts.wiring import Wiring
from debugtracer.trace.file_line import file_line, spot
from debugtracer.trace.finding import Finding, Severity
from debugtracer.trace.number import as_float
from debugtracer.trace.place import Place
from debugtracer.trace.window import LOSS, LR, Window

APART, SURE = "targets_misaligned", 0.9  # where inputs and targets were shuffled apart
ONE_ORDER = "draw one order and put inputs and targets in it: order = torch.randperm(n); x, y = x[order], y[order]"
SAME = 1e-3  # relative difference up to which the loss of the step is the value of the call
TAIL = 96  # last losses whose median is asked where a program is looked at rarely (ours)
ANSWERS = {
    "classes": "each class as often as it comes",
    "shares": "the share of ones",
    "mean": "the mean of the targets",
    "median": "the median of the targets",
    "pairs": "both scores alike, log 2",
}


class AnswerLook(NamedTuple):
    """One inspected call."""

    fact: Fact
    whole: bool
    """What it gave was the loss of the step."""

    @property
    def share(self) -> float:
        """Where the loss lies: 1 at the best constant answer, 0 at the best answer there is."""
        floor = as_float(self.fact.floor)
        return (as_float(self.fact.value) - floor) / (as_float(self.fact.constant) - floor)


class ConstantAnswer(Check, frozen=True):
    """The loss stands where one answer for all inputs would stand.

    What it catches
        Whatever keeps a model from learning more than how often each answer comes: inputs and targets that do not
        belong together, inputs that do not reach the loss, layers without a gradient, a rate that is far off.
    Why it matters
        The loss falls to that value at first and looks like a hard task afterwards.
    How it decides
        In inspected steps the value of a loss function is compared with what the best constant answer to all targets
        seen at this line (shares of the classes, mean or median of each column; log 2 for the order of pairs) costs on
        the same targets. A note where over `steps` updates no look was below `never` of it and those since the loss
        came down there lie, on average, at most `near` below and `above` above it (of what the best answer could save,
        for soft targets), and neither fall nor see the rate rise.
        A difference squared by hand counts where its mean square is the loss. A GAN at its equilibrium, a domain that
        is meant to be unknown and a noisy task look the same. A warning only of the one loss of one optimizer, after
        10 epochs or 1,000 steps, at most `exactly` below it, where the inputs do not reach the answers (they differ by
        `equal` of what the targets do, nothing that comes in changes them) or the gradient does not come back; never of
        pairs. Where they are read there may be nothing to learn, which is a note. A warning too where the source puts
        the inputs and the targets in a random order each.
    What to do
        Overfit one batch. Where that works, print some inputs beside their targets.
    Example
        step 300, rank 0: mse_loss (train.py:41) was 0.1601 in 3 looks at steps 100..300, and never below; the best
        constant answer (the mean of the targets) costs 0.1600. The answers differ between rows by 1 % of what the
        targets do: follow the input to the loss, and look for layers without a gradient.
    """

    needs: ClassVar[tuple[type | str, ...]] = (Fact, LOSS)
    at_end: ClassVar[bool] = True
    symptom: ClassVar[str] = "no_learning"
    confidence: ClassVar[float] = 0.5
    remedies: ClassVar[tuple[str, ...]] = (
        "overfit a single batch: if the loss stays there, the model, the loss or the update is broken",
        "print some inputs beside their targets, after all shuffling: do they belong together?",
        "try ten times and a tenth of the learning rate",
    )
    family: ClassVar[str] = "loss"
    proved_by: ClassVar[str] = "data/lamp_rooms"

    steps: int = 200  # updates (ours, as for a plateau)
    epochs: int = 10  # passes over the data before a warning (ours)
    many_steps: int = 1000  # updates before a warning where an epoch is longer or not known (ours)
    begun: int = 50  # updates after which a look is late (ours)
    never: float = 0.95  # of the constant answer, at any look (ours)
    near: float = 0.03  # below the constant answer, late looks on average (ours)
    above: float = 0.15  # above it: answers that wander with the batches cost more than a constant (ours)
    falls: float = 0.05  # of the constant answer, from the earlier half of the late looks to the later one (ours)
    exactly: float = 0.01  # below it, and five times that above it, for a warning (ours)
    varied: float = 0.05  # of the constant's cost that the best answer saves at least (ours)
    alike: float = 0.05  # of the deviation of the targets: answers that hardly differ (ours)
    equal: float = 0.01  # of the deviation of the targets: answers that are one, for a warning (ours)
    fewest: int = 64  # rows that the constant is made of (ours: of fewer it fits them too well)
    rising: float = 1.2  # times the rate of TAIL losses ago: a warm-up (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Collect the looks at each line; judge it at its late looks and at the end."""
        memory = window.memory(self)
        fresh = []
        for fact in window.new(Fact):
            memory.setdefault(fact.key(), []).append(AnswerLook(fact, is_whole(window, fact)))
            fresh.append(fact.key())
        for key in [key for key in memory if key[0] != "told"] if window.ended else fresh:
            severity = self.stands(window, memory[key])
            told = memory.setdefault(("told", key), [])
            if severity and severity not in told and "warning" not in told:
                told.append(severity)
                yield self.describe(window, memory[key], severity)

    def late(self, looks: list[AnswerLook]) -> list[AnswerLook]:
        """The looks since the loss came down to the constant answer, after the first updates."""
        begun = [one for one in looks if one.fact.ref.step >= looks[0].fact.ref.step + self.begun]
        first = next((at for at, one in enumerate(begun) if one.share <= 1 + self.above), len(begun))
        return begun[first:]

    def stands(self, window: Window, looks: list[AnswerLook]) -> Severity | None:
        """How grave it is that a loss stands at the constant answer; None where it does not."""
        last = looks[-1].fact
        if last.rows < self.fewest or not all(self.saves(one.fact) for one in looks):
            return None
        late, alone = self.late(looks), single(window) and all(one.whole for one in looks)
        length = window.ref.step + 1 - late[0].fact.ref.step if late else 0
        if last.loss == "sub" and not all(one.whole for one in looks):
            return None
        if length < self.steps - self.begun or (last.answer == "pairs" and not alone) or self.warms_up(window):
            return None
        held = len(late) > 2 or (len(late) > 1 and self.tail_stands(window, late))
        level = fmean(one.share for one in late)
        if not held or min(one.share for one in looks) < self.never or not 1 - self.near <= level <= 1 + self.above:
            return None
        older, younger = late[: len(late) // 2], late[len(late) // 2 :]
        if fmean(one.share for one in older) - fmean(one.share for one in younger) > self.falls:
            return None
        return self.gravity(window, last, length, alone and -self.exactly <= level - 1 <= 5 * self.exactly)

    def gravity(self, window: Window, last: Fact, length: int, sure: bool) -> Severity | None:
        """A warning where the one loss stands there for long; nothing where the plateau of a classifier is told."""
        known = chance(window)
        plateau = known is not None and math.isclose(known.level, as_float(last.constant), rel_tol=self.near)
        if last.drawn:
            return "warning"
        if sure and not plateau and last.answer != "pairs" and length >= self.enough(window) and self.cut(window, last):
            return "warning"
        return None if known is not None and plateau and known.classes > 3 else "note"

    def cut(self, window: Window, last: Fact) -> bool:
        """Whether inputs and answers have nothing to do with each other: else it may be that there is nothing to
        learn."""
        same = last.spread is not None and as_float(last.spread) < self.equal
        return same or bool(unread(window)) or bool(stopped(window))

    def saves(self, fact: Fact) -> bool:
        """Whether there is much to gain: the targets differ, and are not mostly uncertain themselves."""
        constant = as_float(fact.constant)
        return constant > 0 and constant - as_float(fact.floor) > self.varied * constant

    def tail_stands(self, window: Window, late: list[AnswerLook]) -> bool:
        """Whether the median of the last losses is that of the constant answer too."""
        tail = window.finite(LOSS)[-TAIL:]
        wanted = fmean(as_float(one.fact.called) for one in late)
        return all(one.whole for one in late) and len(tail) == TAIL and abs(median(tail) / wanted - 1) <= self.near

    def warms_up(self, window: Window) -> bool:
        """Whether the rate rises."""
        rates = window.finite(LR)[-TAIL:]
        return len(rates) > 1 and rates[-1] > self.rising * rates[0]

    def enough(self, window: Window) -> int:
        """The updates after which it is grave."""
        loaders = [one for one in window.seen(LoaderSeen) if one.trains and one.length and one.batch_size]
        epoch = max((-(-one.length // one.batch_size) for one in loaders if one.length and one.batch_size), default=0)
        return max(self.steps, min(self.epochs * epoch or self.many_steps, self.many_steps))

    def describe(self, window: Window, looks: list[AnswerLook], severity: Severity) -> Finding:
        """Build the finding with both numbers, and what is known of the answers."""
        late, last = self.late(looks), looks[-1].fact
        what = "the mean square of a difference" if last.loss == "sub" else last.loss
        value, constant = (fmean(as_float(getattr(one.fact, name)) for one in late) for name in ("value", "constant"))
        return self.finding(
            window,
            severity,
            f"{what}{spot(last.frame)} was {value:.4g} in {len(late)} looks at steps {late[0].fact.ref.step}.."
            f"{last.ref.step}, and never below {self.never:g} of it since step {looks[0].fact.ref.step}; the best "
            f"constant answer ({ANSWERS[last.answer]}) costs {constant:.4g}; expected less. {self.hint(window, last)}",
            place=Place(frame=last.drawn[1], symptom_frame=last.frame) if last.drawn else Place(frame=last.frame),
            kind=APART if last.drawn else None,
            confidence=SURE if last.drawn else None,
            remedies=(ONE_ORDER,) if last.drawn else (),
            loss=value,
            constant=constant,
        )

    def hint(self, window: Window, last: Fact) -> str:
        """What was measured of the way from the inputs to the loss."""
        if last.drawn:
            return two_orders(last.drawn)
        deaf = unread(window)
        if deaf:
            return f"{deaf[0]} gives the same whatever comes in: follow the input through forward."
        still = stopped(window)
        if still:
            return f"{still}: look for what stops the gradient."
        if last.spread is None:
            return "Print some inputs beside what is wanted of them."
        share = as_float(last.spread)
        seen = f"The answers differ between rows by {share:.2g} of what the targets do: "
        if share < self.alike:
            return seen + "follow the input to the loss, and overfit one batch."
        return seen + "the inputs are read, so print some of them beside their targets."


def is_whole(window: Window, fact: Fact) -> bool:
    """Whether the call gave the loss of its step."""
    losses, ago = window.series.get(LOSS, ()), window.ref.iteration - fact.ref.iteration
    return 0 <= ago < len(losses) and math.isclose(as_float(fact.called), losses[-1 - ago], rel_tol=SAME)


def two_orders(drawn: tuple[Frame, Frame]) -> str:
    """Say where inputs and targets were shuffled one after the other, and what to do."""
    first, second = drawn
    return (
        f"Inputs and targets were put in a random order each, by two draws, {file_line(first)} and "
        f"{file_line(second)}, so they do not belong together: draw one order and put both in it."
    )


def single(window: Window) -> bool:
    """Whether one optimizer learns."""
    wiring = window.last(Wiring)
    return wiring is None or len(wiring.optimizers) < 2


def unread(window: Window) -> list[str]:
    """The models that give the same whatever comes in."""
    return [fact.root for fact in window.seen(FunctionTest) if fact.trial == "any_input" and fact.changed]


def stopped(window: Window) -> str:
    """What the gradient of the first weights is, where it is next to nothing beside that of the last ones."""
    health = window.last(Health)
    sizes = [(p.name, as_float(p.grad_l2)) for p in health.params if p.grad_l2 is not None] if health else []
    if len(sizes) < 2 or not sizes[-1][1] > 0 or sizes[0][1] > 1e-6 * max(size for _, size in sizes):
        return ""
    return f"the gradient of {sizes[0][0]} is {sizes[0][1]:.2g}, that of {sizes[-1][0]} {sizes[-1][1]:.2g}"
