"""Step numbers that go back."""

from __future__ import annotations

from debugtracer.checks.logging.gap import Gap
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.logged import Logged
from tests.checks.crashes import REF, told


def logged(*steps):
    return [
        Logged(ref=REF, source="tensorboard", name="train/loss", value=1.0, at=at, frame=Frame("/p/train.py", 28))
        for at in steps
    ]


def test_the_second_fall_is_said():
    (finding,) = told(Gap(), *logged(0, 19, 0, 19, 0, 19, 0))
    assert finding.message == (
        "step 5, rank 0: the step number of train/loss (train.py:28) fell from 19 to 0, for the 2nd time; expected a "
        "number that grows. Log with "
        "epoch * len(loader) + i."
    )
    assert finding.severity == "note"


def test_one_fall_is_a_resume_and_growing_numbers_are_silent():
    assert told(Gap(), *logged(0, 10, 20, 15, 25)) == []
    assert told(Gap(), *logged(0, 10, 10, 20)) == []
