"""Optimizers that never step."""

from __future__ import annotations

from debugtracer.checks.optimizer.step_missing import StepMissing
from debugtracer.trace.facts.order import NoStep
from tests.checks.optimizer.seen import at, found, line


def never(backwards: int, zeroed: int) -> NoStep:
    return NoStep(
        ref=at(0), optimizer=0, kind="Adam", frame=line(22), backward_frame=line(31), backwards=backwards, zeroed=zeroed
    )


def test_gradients_thrown_away_again_and_again_are_a_proof():
    (finding,) = found(StepMissing(), [never(50, 49)])
    assert finding.message == (
        "step 0, rank 0: 50 backward calls (train.py:31) made gradients for Adam (train.py:22), 49 times they were "
        "thrown away by zero_grad, and it has never "
        "stepped; expected one step per update. Call step() after backward."
    )
    assert (finding.place.frame, finding.exact, finding.kind) == (line(31), True, "step_missing")


def test_what_may_still_accumulate_waits_for_the_end():
    assert found(StepMissing(), [never(50, 0)]) == []
    assert len(found(StepMissing(), [never(50, 0)], ended=True)) == 1


def test_a_short_run_is_judged_at_its_end_if_gradients_were_thrown_away():
    assert found(StepMissing(), [never(4, 1)], ended=True) == []
    assert len(found(StepMissing(), [never(4, 3)], ended=True)) == 1
