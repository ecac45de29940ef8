"""RMS_t, the precursor of loss spikes."""

from __future__ import annotations

from debugtracer.checks.optimizer.second_moment_lag import SecondMomentLag
from tests.checks.optimizer.jumps import after_jumps
from tests.checks.test_snapshots import a_snapshot, an_update


def at(step, rms, **more):
    return a_snapshot(step, params=(an_update("embed.weight", rms=rms, **more), an_update("out.weight", rms=1.0)))


def test_a_gradient_beyond_the_second_moment_is_a_note():
    (finding,) = after_jumps(SecondMomentLag(), [at(200, 1.2), at(300, 4.1)], {303})
    assert (finding.severity, finding.step) == ("note", 300)
    assert finding.message == (
        "step 300, rank 0: RMS_t of embed.weight is 4.1 (Adam), largest of 2 parameters; expected below 3. "
        "The loss jumped at step 303: lower beta2, or clip the gradient."
    )


def test_one_that_no_jump_of_the_loss_follows_is_no_news():
    assert after_jumps(SecondMomentLag(), [at(300, 4.1)], set()) == []
    assert after_jumps(SecondMomentLag(), [at(300, 4.1)], {290, 330}) == []


def test_the_first_steps_small_parameters_and_usual_values_are_left_alone():
    assert after_jumps(SecondMomentLag(), [at(40, 9.0)], {41}) == []
    assert after_jumps(SecondMomentLag(), [at(100, 9.0, numel=10)], {101}) == []
    assert after_jumps(SecondMomentLag(), [at(100, 2.9), at(200, None)], {101, 201}) == []


def test_the_same_again_and_again_is_told_twice_and_more_than_that_again():
    steps = (100, 200, 300)
    for third, told in ((4.5, [100, 200]), (6.5, [100, 200, 300])):
        snapshots = [at(step, ratio) for step, ratio in zip(steps, (4.0, 3.8, third), strict=True)]
        found = after_jumps(SecondMomentLag(), snapshots, {step + 1 for step in steps})
        assert [f.step for f in found] == told
