"""Models that look at one position."""

from __future__ import annotations

from debugtracer.checks.model.positions_ignored import PositionsIgnored
from debugtracer.trace.facts.function_test import FunctionTest
from tests.checks.windows import LOADER, ref, told


def judged(**more):
    fact = FunctionTest(ref=ref(), root="Net", **{"trial": "other_positions", "changed": True, **more})
    return list(PositionsIgnored().judge(told(fact)))


def test_one_position_of_many():
    (finding,) = judged(dim=2, length=28, position=0, frame=LOADER)
    assert (finding.severity, finding.kind, finding.place.frame) == ("warning", "input_ignored", LOADER)
    assert finding.message == (
        "step 0, rank 0: of the 28 positions of dimension 2 of the input of Net only position 0 reaches the output; "
        "expected all of them. Look at what train.py:20 takes."
    )
    assert judged(dim=1, length=4, position=3)[0].message.endswith("Look at what forward takes.")


def test_other_trials_and_a_model_that_sees_all_are_silent():
    assert judged(changed=False) == []
    assert judged(trial="any_input") == []
