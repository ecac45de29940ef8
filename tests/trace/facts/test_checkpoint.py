"""What is saved, as a value."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.checkpoint import CheckpointSaved
from debugtracer.trace.step import StepRef


def test_saves_are_told_apart_by_their_line():
    ref = StepRef(iteration=1, step=1)
    first, second = (CheckpointSaved(ref=ref, parts=(), live=(), frame=Frame("/p/train.py", line)) for line in (3, 4))
    assert first.key() != second.key()
    assert CheckpointSaved(ref=ref, parts=(), live=()).key() is None
