"""A sample fetched again, as a value."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.refetched import Refetched
from debugtracer.trace.step import StepRef


def test_it_survives_its_file_and_is_one_a_sample():
    fact = Refetched(
        ref=StepRef(iteration=3, step=3),
        loader=0,
        index=7,
        what="blank",
        again=True,
        transform="Crop",
        frame=Frame("/p/train.py", 3),
    )
    assert from_plain(fact.word(), to_plain(fact)) == fact
    assert fact.key() == (0, 7, "blank")
