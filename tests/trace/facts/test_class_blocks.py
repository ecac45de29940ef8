"""Labels that stand class by class."""

from __future__ import annotations

from debugtracer.trace.facts.class_blocks import ClassBlocks
from tests.checks.facts_at import line, ref


def test_the_data_of_a_loss_are_told_once():
    first, again = (
        ClassBlocks(ref=ref(step), rows=2400, classes=2, entropy=0.66, frame=line(35), loss_frame=line(76))
        for step in (4, 9)
    )
    other = ClassBlocks(ref=ref(4), rows=2400, classes=2, entropy=0.66, frame=line(35), loss_frame=line(80))
    assert first.key() == again.key() != other.key()
