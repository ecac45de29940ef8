"""Windows of one fact each, in order, as a judge would give them to a check of the optimizer layer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from debugtracer.checks.check import Check
from debugtracer.diagnosis.judging.judge import Judge
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.effects import Effect
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.facts.order import Call, StepOrder
from debugtracer.trace.facts.schedule import Rate, Schedule
from debugtracer.trace.finding import Finding
from debugtracer.trace.step import StepRef


def line(number: int, code: str = "") -> Frame:
    """A line of train.py."""
    return Frame(file="/home/someone/train.py", line=number, function="<module>", code=code)


def at(step: int) -> StepRef:
    """A place of a loop with one backward per step."""
    return StepRef(iteration=step, step=step, phase="update")


def found(check: Check, facts: Iterable[Fact] = (), ended: bool = False) -> list[Finding]:
    """What the check says of these facts, one window each."""
    judge, got, ref = Judge({check.slug: check}), [], at(0)
    for fact in facts:
        ref = fact.ref
        got += judge.judge(ref, {}, [fact])
    return [*got, *judge.end(ref)] if ended else got


def told(check: Check, values: Iterable[dict[str, float]]) -> list[Finding]:
    """What the check says of these numbers, one window each."""
    judge = Judge({check.slug: check})
    return [finding for step, given in enumerate(values) for finding in judge.judge(at(step), given)]


def call(word: str, number: int = 10, **more: Any) -> Call:
    """One call at a line."""
    return Call(word=word, frame=line(number), **more)


def order(number: int, *calls: Call, **more: Any) -> StepOrder:
    """One update of SGD."""
    return StepOrder(
        **{
            "ref": at(number),
            "optimizer": 0,
            "kind": "SGD",
            "number": number,
            "calls": calls,
            "held": 4,
            "frame": line(5),
            **more,
        }
    )


def rate(**more: Any) -> Rate:
    """A rate of AdamW."""
    return Rate(**{"ref": at(19), "optimizer": 0, "kind": "AdamW", "frame": line(5), "low": 1e-3, "high": 1e-3, **more})


def schedule(kind: str, **more: Any) -> Schedule:
    """A scheduler built at line 7."""
    return Schedule(**{"ref": at(100), "scheduler": 0, "kind": kind, "frame": line(7), "step_frame": line(20), **more})


def effect(number: int, unchanged: int, **more: Any) -> Effect:
    """One look at four parameters."""
    names = tuple(f"layer.{i}" for i in range(unchanged))
    return Effect(
        **{
            "ref": at(number), "optimizer": 0, "kind": "SGD", "frame": line(5), "by_torch": True, "number": number,
            "expected": 4, "unchanged": names, "unchanged_count": unchanged, **more,
        }
    )  # fmt: skip
