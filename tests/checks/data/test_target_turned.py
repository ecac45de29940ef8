"""Maps that do not lie over their pictures."""

from __future__ import annotations

from debugtracer.checks.data.target_turned import TargetTurned
from debugtracer.trace.facts.turned_target import TurnedTarget
from tests.checks.optimizer.seen import at, found, line


def a_turn(**other):
    given = {"how": "transposed", "turned": 0.71, "present": -0.02, "loss_frame": line(44)} | other
    return TurnedTarget(ref=at(1), height=32, width=32, **given)


def test_the_turn_and_its_line_are_told():
    (one,) = found(TargetTurned(), [a_turn(frame=line(20), made=(line(19),))])
    assert (one.severity, one.kind, one.place.frame) == ("warning", "targets_misaligned", line(20))
    assert one.message == (
        "step 1, rank 0: pixels of the 32 x 32 pictures tell 0.71 of the variance of the target transposed, and -0.02 "
        "as it is; it is turned at train.py:20; expected the two to lie over each other. Turn one of both."
    )


def test_where_no_line_turns_it_the_one_that_made_it_is_told():
    (one,) = found(TargetTurned(), [a_turn(made=(line(19),))])
    assert "; it is made at train.py:19;" in one.message and one.place.frame == line(19)
    (bare,) = found(TargetTurned(), [a_turn()])
    assert bare.place.frame == line(44)


def test_nothing_is_said_without_a_fact():
    assert found(TargetTurned(), []) == []
