"""Where a fault lies, from the two trials that tell."""

import pytest

from debugtracer.diagnosis.proof.attribution import attributed
from debugtracer.trace.verdict import Trial

AGAIN = Trial(intervention="unchanged", outcome="reproduced")


@pytest.mark.parametrize(
    ("batch", "state", "said"),
    [
        (True, True, "it takes this batch on these weights: another batch heals the step, and so do older weights"),
        (True, False, "it lies in this batch: another batch heals the step, older weights do not"),
        (False, True, "it lies in the updates before: older weights heal the step, another batch does not"),
        (
            False,
            False,
            "it lies neither in this batch nor in the last updates: another batch and older weights fail as well",
        ),
    ],
)
def test_batch_and_state_are_told_apart(batch, state, said):
    assert attributed([AGAIN], {"other-batch": batch, "older-weights": state}) == said


def test_one_of_the_two_tells_nothing():
    assert attributed([AGAIN], {"other-batch": True}) == ""


def test_a_fault_that_does_not_come_again_lies_outside():
    told = attributed(
        [Trial(intervention="unchanged", outcome="not reproduced", repeats=3)],
        {"other-batch": True, "older-weights": True},
    )
    assert (
        told
        == "it lies outside the recorded calls: the same step with the same inputs is healthy when it is executed again"
    )
