"""A target without a mask."""

from __future__ import annotations

from typing import Any

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.unmasked_bootstrap import UnmaskedBootstrap
from debugtracer.trace.step import StepRef

ADDED = Frame("/p/train.py", 44, "main", "wanted = rewards + gamma * best")
MADE = Frame("/p/train.py", 40, "main", "done = memory.done[rows]")


def unmasked(step: int, **more: Any) -> UnmaskedBootstrap:
    """One look at a line: two of 32 rows end."""
    given = {"rows": 32, "marked": 2, "marked_beyond": 2, "others_beyond": 3, "marked_new": 2, "others_new": 30} | more
    return UnmaskedBootstrap(ref=StepRef(iteration=step, step=step), added=ADDED, made=MADE, **given)


def test_each_look_is_a_fact_of_its_own() -> None:
    assert unmasked(1).key() == unmasked(1, marked=5).key()
    assert unmasked(1).key() != unmasked(2).key()
