"""Synthetic series for the tests of spikes and of the checks that read them: plain numbers, the same each time."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator

from debugtracer.checks.check import Check
from debugtracer.diagnosis.judging.judge import Judge
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.finding import Finding
from debugtracer.trace.step import StepRef


def ref(step: int) -> StepRef:
    return StepRef(iteration=step, step=step)


def falling(count: int, start: float = 3.0, end: float = 1.0, noise: float = 0.03, seed: int = 0) -> list[float]:
    """A loss that falls like 1 / step from `start` to `end`, with relative noise."""
    chance = random.Random(seed)
    return [(end + (start - end) / (1 + 0.05 * step)) * (1 + noise * chance.gauss(0, 1)) for step in range(count)]


def findings(
    check: Check, losses: Iterable[float], facts: Iterable[Fact] = (), **others: Iterable[float]
) -> list[Finding]:
    """What a check says of a whole run with these series; Facts come with their step. The real judge hands out the
    windows."""
    judge = Judge({check.slug: check})
    return list(told(judge, list(losses), list(facts), {name: list(values) for name, values in others.items()}))


def told(judge: Judge, losses: list[float], facts: list[Fact], others: dict[str, list[float]]) -> Iterator[Finding]:
    for step, loss in enumerate(losses):
        values = {"loss": loss} | {name: series[step] for name, series in others.items()}
        yield from judge.judge(ref(step), values, [fact for fact in facts if fact.ref.step == step])
    yield from judge.end(ref(len(losses) - 1))


def loud(found: Iterable[Finding]) -> list[Finding]:
    return [finding for finding in found if finding.severity != "note"]
