"""What counts as a healed step."""

import math

from debugtracer.diagnosis.proof.healing import band, is_healed
from debugtracer.replay.trials.score import Score

RECENT = {"loss": [2.3, 2.2, 2.25, 2.1], "grad_l2": [1.0, 1.2, 0.9, 1.1]}


def test_finite_numbers_like_those_before():
    assert is_healed(Score(loss=2.0, grad_l2=1.3, probe_loss=2.2, finite_update=True), RECENT)


def test_nothing_non_finite_is_healed():
    assert not is_healed(Score(loss=math.nan), RECENT)
    assert not is_healed(Score(loss=2.0, grad_l2=math.inf), RECENT)
    assert not is_healed(Score(loss=2.0, grad_l2=1.0, finite_update=False), RECENT)
    assert not is_healed(Score(finite_output=False), RECENT)


def test_a_trial_that_could_not_run_heals_nothing():
    assert not is_healed(Score(refused="no batch"), RECENT)


def test_a_gradient_far_beyond_the_last_ones_is_not_healthy():
    assert not is_healed(Score(loss=2.0, grad_l2=12.1), RECENT)
    assert is_healed(Score(loss=2.0, grad_l2=11.9), RECENT)


def test_a_healthy_batch_that_suffers_shows_a_bad_update():
    """The loss of the step itself is normal: only the batch after the update shows it."""
    assert not is_healed(Score(loss=2.2, grad_l2=1.0, probe_loss=9.0), RECENT)


def test_too_few_steps_to_compare_with():
    assert is_healed(Score(loss=2.2, grad_l2=500.0, probe_loss=9.0), {"loss": [2.3], "grad_l2": [1.0]})


def test_the_band_of_losses_that_are_negative():
    assert band([-3.0, -2.0, -2.5]) == -2.5 + 2 * 2.5


def test_a_finite_loss_far_beyond_the_last_ones_is_not_healthy():
    assert not is_healed(Score(loss=4.7e11, grad_l2=1.0), RECENT)
    assert is_healed(Score(loss=20.0, grad_l2=1.0), RECENT)


def test_three_steps_are_enough_to_compare_with_and_two_are_not():
    three, two = ({"loss": [1.0] * n, "grad_l2": [1.0] * n} for n in (3, 2))
    for score in (Score(loss=1.0, grad_l2=10.1), Score(loss=11.1), Score(loss=1.0, probe_loss=3.1)):
        assert not is_healed(score, three)
        assert is_healed(score, two)
    unlike = {"loss": [1.0, 1.0, math.nan], "grad_l2": [1.0, 1.0, math.inf]}
    assert is_healed(Score(loss=11.1, grad_l2=10.1, probe_loss=3.1), unlike)


def test_exactly_at_a_limit_is_healthy():
    recent = {"loss": [1.0] * 3, "grad_l2": [1.0] * 3}
    assert is_healed(Score(loss=11.0, grad_l2=10.0, probe_loss=3.0), recent)
    assert not is_healed(Score(loss=11.01, grad_l2=10.0, probe_loss=3.0), recent)
    assert not is_healed(Score(loss=11.0, grad_l2=10.01, probe_loss=3.0), recent)
    assert not is_healed(Score(loss=11.0, grad_l2=10.0, probe_loss=3.01), recent)


def test_the_band_is_as_wide_as_the_widest_of_spread_and_level():
    assert band([1.0, 1.0, 5.0]) == 1.0 + 2 * 4.0
    assert band([3.0, 3.0, 5.0]) == 3.0 + 2 * 3.0
    assert band([0.0, 0.0, 0.0]) == 2e-6
    assert band([1.0, 1.0, 1.0], 10.0) == 11.0
