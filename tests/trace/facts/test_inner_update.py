"""What is written of an inner loop."""

from __future__ import annotations

from typing import Any

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.inner_update import InnerUpdate
from debugtracer.trace.step import StepRef

MADE = Frame("/p/meta.py", 31, "adapt", "w = w + rate * g")
OUTER = Frame("/p/meta.py", 40, "main", "loss = mse_loss(said, wanted)")
UNREAD = Frame("/p/meta.py", 20, "main", "query = rows[5:]")


def inner(step: int, **more: Any) -> InnerUpdate:
    """One look at four tasks, as it should be."""
    given = {"updates": 24, "ascending": 0, "outer": 4, "same": 0, "unread": 0} | more
    ref = StepRef(iteration=step, step=step)
    return InnerUpdate(ref=ref, frame=MADE, outer_frame=OUTER, unread_frame=UNREAD, **given)


def test_each_look_is_a_fact_of_its_own() -> None:
    assert inner(1).key() == inner(1, same=4).key()
    assert inner(1).key() != inner(2).key()
