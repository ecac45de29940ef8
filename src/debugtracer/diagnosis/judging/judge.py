"""The judge of one rank: takes numbers and facts in order, asks the checks, gives findings. The same code live and
offline; needs no torch."""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from debugtracer.checks.check import Check, checks
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.finding import Finding
from debugtracer.trace.step import StepRef
from debugtracer.trace.window import DEPTH, ENDED, Window

REPEAT_STEPS = 100  # steps before the same check may say the same again (docs/rationale/checks.md#cadence)
MOST = 20  # findings of one check per run; a reader who has not acted on twenty will not act on more (ours)


class Judge:
    """Holds what the checks may see and asks those for which something fresh has come."""

    def __init__(self, asked: Mapping[str, Check] | None = None) -> None:
        self.checks = list((checks() if asked is None else asked).values())
        self.series: dict[str, deque[float]] = {}
        self.facts: dict[type[Fact], deque[Fact]] = {}
        self.memories: dict[str, dict[Any, Any]] = {}
        self.spoke: dict[tuple[str, ...], float] = {}
        self.said: dict[str, int] = {}
        self.asked: dict[str, int] = {}
        self.counts: Counter[str | type[Fact]] = Counter()
        """How many values of each series and facts of each kind have come."""
        self.problems: dict[str, str] = {}
        """Checks that failed, with the error; they are not asked again."""

    def judge(
        self, ref: StepRef, values: Mapping[str, float], facts: Iterable[Fact] = (), flags: frozenset[str] = frozenset()
    ) -> Iterator[Finding]:
        """Yield findings at a step with these numbers and the facts observed since the last one."""
        for name, value in values.items():
            self.series.setdefault(name, deque(maxlen=DEPTH)).append(value)
        self.counts.update(values.keys())
        came: dict[type[Fact], int] = {}
        for fact in facts:
            kind = type(fact)
            self.facts.setdefault(kind, deque(maxlen=kind.KEEP)).append(fact)
            came[kind] = min(came.get(kind, 0) + 1, kind.KEEP)
            self.counts[kind] += 1
        fresh = frozenset(name for name, value in values.items() if math.isfinite(value))
        window = Window(ref, self.series, fresh, flags, (), self.facts, came, self.memories)
        news = fresh | came.keys()
        for check in self.checks:
            if (
                not news.isdisjoint(check.needs) or (check.at_end and ENDED in flags)
            ) and check.slug not in self.problems:
                yield from self.ask(check, window)

    def end(self, ref: StepRef, facts: Iterable[Fact] = ()) -> Iterator[Finding]:
        """Judge the last facts when the run is over."""
        return self.judge(ref, {}, facts, frozenset({ENDED}))

    def ask(self, check: Check, window: Window) -> Iterator[Finding]:
        """Ask one check; one that fails is put aside with its error."""
        slug = check.slug
        # at the end some are asked that nothing ever came for
        if slug in self.asked or not (window.fresh | window.came.keys()).isdisjoint(check.needs):
            self.asked[slug] = self.asked.get(slug, 0) + 1
        try:
            for finding in check.judge(window):
                if self.is_news(finding, window.ref.step):
                    yield finding
        except Exception as error:
            self.failed(slug, error)

    def failed(self, slug: str, error: Exception) -> None:
        """Record the error of a check and raise it: a check that raises is a fault of ours."""
        self.problems[slug] = f"{type(error).__name__}: {error}"
        raise error

    def is_news(self, finding: Finding, step: int) -> bool:
        """False for a repetition within REPEAT_STEPS, and for too many findings of one check."""
        place = finding.place
        key = (
            finding.check,
            finding.severity,
            finding.kind or "",
            place.param or place.module or "",
            str(place.frame.line if place.frame else ""),
        )
        again = math.inf if finding.exact else REPEAT_STEPS  # a proof is said once
        if step - self.spoke.get(key, -math.inf) < again or self.said.get(finding.check, 0) >= MOST:
            return False
        self.spoke[key] = step
        self.said[finding.check] = self.said.get(finding.check, 0) + 1
        return True

    def fed(self) -> tuple[str, ...]:
        """The checks that got what they are about: one that needs facts cannot judge by a series alone."""
        about = {
            check.slug: [need for need in check.needs if not isinstance(need, str)] or check.needs
            for check in self.checks
        }
        return tuple(slug for slug, needs in about.items() if any(self.counts[need] for need in needs))

    def short(self) -> dict[str, int]:
        """The checks whose first series came, and not often enough for them to judge."""
        return {
            check.slug: check.least_values
            for check in self.checks
            if check.least_values and 0 < self.counts[check.needs[0]] < check.least_values
        }

    def window(self, ref: StepRef) -> Window:
        """What is known so far, for the checks that take several ranks."""
        return Window(ref, self.series, frozenset(), frozenset({ENDED}), (), self.facts, {}, self.memories)
