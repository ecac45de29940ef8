"""Averages of one tensor."""

from __future__ import annotations

from debugtracer.checks.optimizer.self_average import SelfAverage
from debugtracer.trace.facts.own_average import OwnAverage
from tests.checks.optimizer.seen import at, found, line


def looks(count, caller):
    return [
        OwnAverage(ref=at(s), shape=(64, 10), kept=0.95, taken=0.05, frame=line(16), caller=caller)
        for s in range(count)
    ]


def test_it_is_said_once_and_the_caller_is_the_place():
    (finding,) = found(SelfAverage(), looks(3, line(23)))
    assert (finding.kind, finding.place.frame, finding.place.symptom_frame) == (
        "average_not_updated", line(23), line(16),
    )  # fmt: skip
    assert finding.message == (
        "step 0, rank 0: train.py:16 averages a copy of weights of shape (64, 10) with itself (0.95 and 0.05 of one "
        "tensor), called at train.py:23; expected the trained parameter on one side. Pass the trained model."
    )


def test_the_line_itself_is_the_place_where_both_sides_are_written_there():
    (finding,) = found(SelfAverage(), looks(2, None))
    assert finding.place.frame == line(16)
