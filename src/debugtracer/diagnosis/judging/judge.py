"""The judge of one rank: takes numbers and facts in order, asks the checks, gives findings. The same code live and
offline; needs no torch."""

from __future__ import annotations

import math
import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from debugtracer.callsites.origins.keyword_line import keyword_line
from debugtracer.checks.check import CLOSEST, Check, checks
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.finding import UNTRIED, Finding
from debugtracer.trace.nearness import Nearness
from debugtracer.trace.step import StepRef
from debugtracer.trace.window import (
    CLIP_RATIO,
    DEPTH,
    ENDED,
    GRAD_L2,
    GRAD_MAX,
    LOSS,
    LOSS_SCALE,
    LR,
    PARAM_L2,
    PARAM_MAX,
    SCALER_SKIPPED,
    VAL_LOSS,
    Window,
)

REPEAT_STEPS = 100  # steps before the same check may say the same again (docs/rationale/checks.md#cadence)
MOST_PLANS = 256  # sets of news that are remembered (ours): a step as a rule brings what the one before it brought
OF_TRAINING = frozenset({LOSS, GRAD_L2, GRAD_MAX, PARAM_L2, PARAM_MAX})
"""Series that every training has."""
OWN_LAYERS = ("model", "optimizer", "numerics")  # whose checks judge them alone; facts only add to the evidence
SERIES_ABOUT = {
    LR: "an optimizer",
    CLIP_RATIO: "gradient clipping",
    SCALER_SKIPPED: "a GradScaler",
    LOSS_SCALE: "a GradScaler",
    VAL_LOSS: "an evaluation",
}
"""What a run must have for these series to be there."""
MOST = 20  # findings of one check per run; a reader who has not acted on twenty will not act on more (ours)
# a number of a message; not one inside a name (`0.weight`, `layers.3.attn`, `conv2d`)
NUMBER = re.compile(r"(?<![\w.])[-+]?(\d[\d,.]*(e[-+]?\d+)?(?!\.?[A-Za-z_])|(nan|inf)\b)", re.IGNORECASE)


class Came:
    """The series that come together at a step: as a rule the same at each one, so that what follows from their names is
    found once."""

    __slots__ = ("appends", "fresh", "times")

    def __init__(self, series: list[deque[float]], fresh: frozenset[str]) -> None:
        self.appends = [values.append for values in series]
        self.fresh = fresh
        self.times = 0
        """How often they came."""


class Asked:
    """The checks that the same news concerns, and how often they were asked together."""

    __slots__ = ("checks", "times")

    def __init__(self, checks: tuple[Check, ...]) -> None:
        self.checks, self.times = checks, 0


class Judge:
    """Holds what the checks may see and asks those for which something fresh has come."""

    def __init__(self, asked: Mapping[str, Check] | None = None) -> None:
        self.checks = list((checks() if asked is None else asked).values())
        self.series: dict[str, deque[float]] = {}
        self.facts: dict[type[Fact], deque[Fact]] = {}
        self.memories: dict[str, dict[Any, Any]] = {}
        self.spoke: dict[tuple[str, ...], float] = {}
        self.words: dict[tuple[str, ...], set[str]] = {}
        """What was said of a subject at the step at which it was spoken of last."""
        self.said: dict[str, int] = {}
        self.symptoms: set[str] = set()
        """Of the findings so far."""
        self.tally: Counter[str] = Counter()
        """How often each check was asked, but for what `plans` has counted."""
        self.kinds: Counter[type[Fact]] = Counter()
        """How many facts of each kind have come."""
        self.values: Counter[str] = Counter()
        """How many values of each series have come, but for what `columns` has counted."""
        self.columns: dict[tuple[str, ...], Came] = {}
        self.plans: dict[frozenset[object], Asked] = {}
        self.problems: dict[str, str] = {}
        """Checks that failed, with the error; they are not asked again."""

    @property
    def asked(self) -> dict[str, int]:
        """How often each check was asked."""
        asked = self.tally.copy()
        for plan in self.plans.values():
            for check in plan.checks:
                asked[check.slug] += plan.times
        return {slug: count for slug, count in asked.items() if count}

    def judge(
        self,
        ref: StepRef,
        values: Mapping[str, float],
        facts: Iterable[Fact] = (),
        flags: frozenset[str] = frozenset(),
        skipped: int = 0,
    ) -> Iterator[Finding]:
        """Yield findings at a step with these numbers and the facts observed since the last one; `skipped` steps lie
        between."""
        fresh = self.take(values)
        came: dict[type[Fact], int] = {}
        for fact in facts:
            kind = type(fact)
            self.facts.setdefault(kind, deque(maxlen=kind.KEEP)).append(fact)
            came[kind] = min(came.get(kind, 0) + 1, kind.KEEP)
            self.kinds[kind] += 1
        window = Window(ref, self.series, fresh, flags, (), self.facts, came, self.memories, skipped)
        if ENDED in flags:
            yield from self.last(window)
            return
        plan = self.plan(fresh.union(came) if came else fresh)
        plan.times += 1
        for check in plan.checks:
            try:
                for finding in map(at_argument, check.judge(window)):
                    if self.is_news(finding, ref.step):
                        yield finding
            except Exception as error:
                for unasked in plan.checks[plan.checks.index(check) + 1 :]:
                    self.tally[unasked.slug] -= 1
                self.failed(check.slug, error)

    def take(self, values: Mapping[str, float]) -> frozenset[str]:
        """Take the numbers of a step; return the names of those that are finite."""
        names = tuple(values)
        came = self.columns.get(names)
        if came is None:
            if len(self.columns) >= MOST_PLANS:
                self.values.update({name: self.count(name) - self.values[name] for name in self.series})
                self.columns.clear()
            series = [self.series.setdefault(name, deque(maxlen=DEPTH)) for name in names]
            came = self.columns[names] = Came(series, frozenset(names))
        came.times += 1
        for append, value in zip(came.appends, values.values(), strict=True):
            append(value)
        if all(map(math.isfinite, values.values())):
            return came.fresh
        return frozenset(name for name, value in values.items() if math.isfinite(value))

    def plan(self, news: frozenset[object]) -> Asked:
        """The checks to which something of this is news."""
        found = self.plans.get(news)
        if found is None:
            if len(self.plans) >= MOST_PLANS:
                self.settle()
            found = self.plans[news] = Asked(
                tuple(c for c in self.checks if not news.isdisjoint(c.needs) and c.slug not in self.problems)
            )
        return found

    def settle(self) -> None:
        """Forget the plans but not what they have counted."""
        self.tally = Counter(self.asked)
        self.plans.clear()

    def last(self, window: Window) -> Iterator[Finding]:
        """Ask what is asked when the run is over."""
        news = window.fresh | window.came.keys()
        self.settle()
        for check in sorted(self.checks, key=lambda check: check.fallback):
            if check.fallback and check.symptom in self.symptoms:
                continue
            if (check.at_end or not news.isdisjoint(check.needs)) and check.slug not in self.problems:
                yield from self.ask(check, window)

    def end(self, ref: StepRef, facts: Iterable[Fact] = ()) -> Iterator[Finding]:
        """Judge the last facts when the run is over."""
        return self.judge(ref, {}, facts, frozenset({ENDED}))

    def ask(self, check: Check, window: Window) -> Iterator[Finding]:
        """Ask one check; one that fails is put aside with its error."""
        slug = check.slug
        # at the end some are asked that nothing ever came for
        if slug in self.tally or not (window.fresh | window.came.keys()).isdisjoint(check.needs):
            self.tally[slug] += 1
        try:
            for finding in map(at_argument, check.judge(window)):
                if self.is_news(finding, window.ref.step):
                    yield finding
        except Exception as error:
            self.failed(slug, error)

    def failed(self, slug: str, error: Exception) -> None:
        """Record the error of a check and raise it: a check that raises is a fault of ours."""
        self.problems[slug] = f"{type(error).__name__}: {error}"
        self.settle()
        raise error

    def is_news(self, finding: Finding, step: int) -> bool:
        """False for a repetition within REPEAT_STEPS, and for too many findings of one check."""
        if UNTRIED in finding.evidence:
            return True  # it is told, or another in its place, once it was tried
        *known, words = subject(finding)
        key = (finding.check, finding.severity, finding.kind or "", *known, words if finding.exact else "")
        again = math.inf if finding.exact else REPEAT_STEPS  # a proof is said once
        spoke = self.spoke.get(key, -math.inf)
        repeats = step - spoke < again and (step != spoke or words in self.words.get(key, ()))
        if repeats or self.said.get(finding.check, 0) >= MOST:
            return False
        self.words[key] = {words} if step != spoke else self.words[key] | {words}
        self.spoke[key] = step
        self.said[finding.check] = self.said.get(finding.check, 0) + 1
        self.symptoms.add(finding.symptom)
        return True

    def fed(self) -> tuple[str, ...]:
        """The checks that got what they are about: one that needs facts cannot judge by a series alone."""
        about = {
            check.slug: [need for need in check.needs if not isinstance(need, str)] or check.needs
            for check in self.checks
        }
        return tuple(slug for slug, needs in about.items() if any(self.count(need) for need in needs))

    def unseen(self) -> dict[str, str]:
        """The checks that could not be asked, with what the run does not have: facts of their kinds, or of others about
        the same thing, never came."""
        had = {kind.ABOUT for kind, count in self.kinds.items() if count}
        found: dict[str, str] = {}
        for check in self.checks:
            first, kinds = check.needs[0] if check.needs else "", [n for n in check.needs if not isinstance(n, str)]
            trains = first in OF_TRAINING and check.layer in OWN_LAYERS and self.count(first)
            if trains or any(self.count(kind) or not kind.ABOUT or kind.ABOUT in had for kind in kinds):
                continue
            lacks = kinds[0].ABOUT if kinds else SERIES_ABOUT.get(str(first), "")
            if lacks and (kinds or not any(self.count(need) for need in check.needs)):
                found[check.slug] = lacks
        return found

    def short(self) -> dict[str, int]:
        """The checks whose first series came, and not often enough for them to judge."""
        return {
            check.slug: check.least_values
            for check in self.checks
            if check.least_values and 0 < self.count(check.needs[0]) < check.least_values
        }

    def nearness(self) -> dict[str, Nearness]:
        """How close each check came that measures a number against a limit."""
        return dict(self.memories.get(CLOSEST, {}))

    def count(self, need: str | type[Fact]) -> int:
        """How many values of a series, or facts of a kind, have come."""
        if not isinstance(need, str):
            return self.kinds[need]
        return self.values[need] + sum(came.times for names, came in self.columns.items() if need in names)

    def window(self, ref: StepRef) -> Window:
        """What is known so far, for the checks that take several ranks."""
        return Window(ref, self.series, frozenset(), frozenset({ENDED}), (), self.facts, {}, self.memories)


def at_argument(finding: Finding) -> Finding:
    """The finding at the line of the argument that is to change, where its source can be read."""
    place = finding.place
    if place.frame is None or place.argument is None:
        return finding
    line = keyword_line(place.frame, place.argument)
    if line == place.frame:
        return finding
    return msgspec.structs.replace(finding, place=msgspec.structs.replace(place, frame=line))


def subject(finding: Finding) -> tuple[str, str, str]:
    """What a finding is about: its place; without one also its words, for they alone tell two findings of a check at
    one step apart. The numbers in them differ from step to step."""
    place = finding.place
    name, line = place.param or place.module or "", str(place.frame.line if place.frame else "")
    return name, line, "" if name or line else NUMBER.sub("#", finding.message)
