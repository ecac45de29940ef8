"""A loss that a library divides after the program."""

from __future__ import annotations

from debugtracer.checks.optimizer.loss_divided_twice import LossDividedTwice
from debugtracer.trace.facts.loss_division import LossDivision
from tests.checks.optimizer.seen import at, found, line


def seen(step: int) -> LossDivision:
    return LossDivision(ref=at(step), backwards=8, library="accelerate", frame=line(55))


def test_it_is_said_once_at_the_second_look():
    (finding,) = found(LossDividedTwice(), [seen(step) for step in range(4)])
    assert (finding.severity, finding.kind, finding.place.frame) == ("warning", "accumulation_unscaled", line(55))
    assert finding.message == (
        "step 1, rank 0: accelerate calls backward (train.py:55) 8 times for an update, and each loss was divided by 8 "
        "twice, so gradients are 0.125 of those of their mean, in 2 inspected steps; expected one division. Take the "
        "program's own out."
    )


def test_one_look_says_nothing():
    assert found(LossDividedTwice(), [seen(0)]) == []
