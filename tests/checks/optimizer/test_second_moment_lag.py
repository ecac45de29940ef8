"""RMS_t, the precursor of loss spikes."""

from __future__ import annotations

from debugtracer.checks.optimizer.second_moment_lag import SecondMomentLag
from tests.checks.test_snapshots import a_snapshot, an_update, judged


def at(step, rms, **more):
    return a_snapshot(step, params=(an_update("embed.weight", rms=rms, **more), an_update("out.weight", rms=1.0)))


def test_a_gradient_beyond_the_second_moment_is_a_note():
    (finding,) = judged(SecondMomentLag(), at(200, 1.2), at(300, 4.1))
    assert (finding.severity, finding.step) == ("note", 300)
    assert finding.message == (
        "step 300, rank 0: RMS_t of embed.weight is 4.1 (Adam), largest of 2 parameters; expected below 3. "
        "A loss spike may follow within 8 steps: keep a checkpoint, lower beta2."
    )


def test_the_first_steps_small_parameters_and_usual_values_are_left_alone():
    assert judged(SecondMomentLag(), at(2, 9.0)) == []
    assert judged(SecondMomentLag(), at(100, 9.0, numel=10)) == []
    assert judged(SecondMomentLag(), at(100, 2.9), at(200, None)) == []


def test_the_same_again_and_again_is_told_twice_and_more_than_that_again():
    found = judged(
        SecondMomentLag(), at(100, 4.0), at(200, 3.8), at(300, 4.5), at(400, 4.1), at(500, 6.5), at(600, 7.0)
    )
    assert [f.step for f in found] == [100, 200, 500]
