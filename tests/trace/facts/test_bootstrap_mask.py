"""How often the next state counts."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.bootstrap_mask import BootstrapMask
from debugtracer.trace.step import StepRef

MASKED = Frame("/p/train.py", 44, "main", "wanted = rewards + gamma * best * done")


def masked(step: int, rows: int = 32, kept: int = 2, again: int = 20, kept_again: int = 0) -> BootstrapMask:
    """One look at a line."""
    ref = StepRef(iteration=step, step=step)
    return BootstrapMask(ref=ref, rows=rows, kept=kept, kept_again=kept_again, again=again, masked=MASKED)


def test_each_look_is_a_fact_of_its_own() -> None:
    assert masked(1).key() == masked(1, kept=5).key()
    assert masked(1).key() != masked(2).key()
