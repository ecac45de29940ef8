"""Windows over facts, for the tests of checks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from debugtracer.checks.check import Check
from debugtracer.testing import TRAIN
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.finding import Finding
from debugtracer.trace.step import StepRef
from debugtracer.trace.window import ENDED, Window


def ref(step: int = 0) -> StepRef:
    """A place in the run."""
    return StepRef(iteration=step, step=step)


def line(number: int, code: str = "") -> Frame:
    """A line of train.py."""
    return Frame(TRAIN, number, "<module>", code)


def judged(check: Check, facts: Iterable[Fact], *, ended: bool = False, **series: tuple[float, ...]) -> list[Finding]:
    """The facts come one window each, in order, at their own place."""
    found: list[Finding] = []
    seen: dict[type[Fact], list[Fact]] = {}
    memories: dict[str, dict[Any, Any]] = {}
    for fact in facts:
        seen.setdefault(type(fact), []).append(fact)
        found += check.judge(Window(fact.ref, facts=seen, came={type(fact): 1}, memories=memories))
    if ended or series:
        last = max((f[-1].ref.step for f in seen.values()), default=0)
        at = ref(max([last, *(len(v) - 1 for v in series.values())]))
        flags = frozenset({ENDED}) if ended else frozenset()
        found += check.judge(
            Window(at, series=series, fresh=frozenset(series), flags=flags, facts=seen, memories=memories)
        )
    return found
