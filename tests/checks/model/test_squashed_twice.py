"""Outputs that are squashed twice."""

from __future__ import annotations

from debugtracer.checks.model.squashed_twice import SquashedTwice
from debugtracer.trace.facts.squashed_again import SquashedAgain
from tests.checks.optimizer.seen import at, found, line


def seen(step: int, **more):
    given = {"inner": "sigmoid", "outer": "sigmoid", "frame": line(14), "inner_frame": line(22)} | more
    return SquashedAgain(ref=at(step), **given)


def test_it_is_said_once_at_the_outer_one():
    (finding,) = found(SquashedTwice(), [seen(step, inner_module="Sigmoid") for step in range(3)])
    assert (finding.severity, finding.place.frame, finding.place.symptom_frame) == ("warning", line(14), line(22))
    assert finding.message == (
        "step 1, rank 0: sigmoid (train.py:14) is given the output of sigmoid (Sigmoid, train.py:22), so what it gives "
        "lies between 0.5 and 0.73 in 2 looks; expected scores of both signs. Leave one of the two out."
    )


def test_two_softmaxes_of_ten_classes():
    (finding,) = found(SquashedTwice(), [seen(i, inner="softmax", outer="softmax", classes=10) for i in (0, 1)])
    assert "softmax (train.py:14) is given the output of softmax (train.py:22), so what it gives lies between" in (
        finding.message
    )
    assert "between 0.085 and 0.23 in 2 looks" in finding.message


def test_one_look_is_silent():
    assert found(SquashedTwice(), [seen(0), seen(0)]) == []
