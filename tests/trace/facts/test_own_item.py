"""A sequence that is asked for as it was given."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.own_item import OwnItem
from debugtracer.trace.step import StepRef

MADE = Frame("/p/utils.py", 30, "sample", "pos[idx] = i")
WANTED = Frame("/p/model.py", 88, "forward", "pos = self.items(positive)")


def own(step: int, same: int = 640, made: Frame | None = MADE) -> OwnItem:
    """One look at a product."""
    ref = StepRef(iteration=step, step=step)
    return OwnItem(ref=ref, places=640, same=same, made=made, wanted=WANTED, frame=WANTED)


def test_each_look_is_a_fact_of_its_own() -> None:
    assert own(1).key() != own(2).key()


def test_two_products_on_one_line_are_two_facts() -> None:
    assert own(1).key() != own(1, 20).key()
