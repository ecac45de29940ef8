"""States handed to other parameters."""

from __future__ import annotations

from debugtracer.checks.rollback.state_misplaced import StateMisplaced
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.checkpoint import Resumed
from tests.checks.crashes import REF, told


def test_the_parameters_and_the_line_are_named():
    at = Frame("/p/train.py", 44)
    (finding,) = told(
        StateMisplaced(),
        Resumed(ref=REF, misplaced=("b.weight <- a.weight", "a.weight <- b.weight"), optimizer_load_frame=at),
    )
    assert finding.message == (
        "step 5, rank 0: 2 parameters got the state of another one (b.weight <- a.weight, ...) when the optimizer's "
        "state was loaded (train.py:44); "
        "expected the order of the save. Build the groups in one order."
    )
    assert (finding.place.param, finding.place.frame) == ("b.weight", at)


def test_the_same_order_is_silent():
    assert told(StateMisplaced(), Resumed(ref=REF)) == []
