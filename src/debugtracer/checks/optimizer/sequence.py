"""What the checks of the order of calls share: two updates running, and a line in a message."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.order import StepOrder


def running(memory: dict[Any, Any], fact: StepOrder, bad: bool) -> StepOrder | None:
    """The first of two updates running of one optimizer that are bad, when this is the second; `memory` is the notebook
    of the check."""
    before: StepOrder | None = memory.get(fact.optimizer)
    memory[fact.optimizer] = fact if bad else None
    return before if bad and before is not None and fact.number == before.number + 1 else None


def spot(frame: Frame | None) -> str:
    """Format a line as ` (train.py:53)`, or nothing where it is not known."""
    return f" ({at_line(frame)})" if frame is not None else ""


def at_line(frame: Frame) -> str:
    """Format a line as `train.py:53`."""
    return f"{PurePath(frame.file).name}:{frame.line}"
