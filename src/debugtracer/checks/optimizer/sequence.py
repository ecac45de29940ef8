"""What the checks of the order of calls share: two updates running."""

from __future__ import annotations

from typing import Any

from debugtracer.trace.facts.order import StepOrder


def running(memory: dict[Any, Any], fact: StepOrder, bad: bool) -> StepOrder | None:
    """The first of two updates running of one optimizer that are bad, when this is the second; `memory` is the notebook
    of the check."""
    before: StepOrder | None = memory.get(fact.optimizer)
    memory[fact.optimizer] = fact if bad else None
    return before if bad and before is not None and fact.number == before.number + 1 else None
