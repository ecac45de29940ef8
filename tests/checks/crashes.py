"""Windows with a crash, for the checks that explain one."""

from __future__ import annotations

from typing import Any

from debugtracer.checks.check import Check
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.crash import Crash, CrashBatch, TensorSeen
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.finding import Finding
from debugtracer.trace.step import StepRef
from debugtracer.trace.window import Window

REF = StepRef(iteration=5, step=5)
LINE = Frame("/p/train.py", 34, "main", "loss = model(x)")
LOADER = Frame("/p/train.py", 27, "<module>", "loader = DataLoader(data)")


def a_crash(message: str, error: str = "RuntimeError", **more: Any) -> Crash:
    """At train.py:34, step 5."""
    return Crash(ref=REF, error=error, message=message, **{"frames": (LINE,), "call": LINE, **more})


def seen(name: str, *shape: int, **more: Any) -> TensorSeen:
    """A tensor of the failing call."""
    return TensorSeen(name=name, shape=shape, **{"dtype": "float32", **more})


def a_batch(rows: int | None, **more: Any) -> CrashBatch:
    """Of a loader built at train.py:27."""
    return CrashBatch(rows=rows, frame=LOADER, **more)


def told(check: Check, *facts: Fact) -> list[Finding]:
    """What a check says when these facts have just come."""
    kinds = {type(fact) for fact in facts}
    held = {kind: [fact for fact in facts if type(fact) is kind] for kind in kinds}
    return list(check.judge(Window(ref=REF, facts=held, came={kind: len(kept) for kind, kept in held.items()})))


def silent_on_another_error(check: Check) -> None:
    """A KeyError of the user's own is none of its business."""
    assert told(check, a_crash("'learning_rate'", "KeyError")) == []
