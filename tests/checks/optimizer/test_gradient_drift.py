"""The gradient norm as an early sign."""

from __future__ import annotations

from debugtracer.checks.optimizer.gradient_drift import GradientDrift
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.loop_change import LoopChange
from debugtracer.trace.step import StepRef
from tests.spikes.series import falling, findings


def leaves(count, step):
    """A loss that leaves its level at a step, and one that stays where it was."""
    return [v * (4.0 if at >= step else 1.0) for at, v in enumerate(falling(count))]


def test_an_outlier_is_told_when_the_loss_follows_and_only_then():
    norms = falling(300, seed=1)
    norms[200] *= 6
    (found,) = findings(GradientDrift(), leaves(300, 204), grad_l2=norms)
    assert (found.severity, found.step, found.kind) == ("note", 200, None)
    assert "and the loss left its level at step 204; expected at most" in found.message
    assert found.message.endswith("Look at this step first: it began here.")
    assert findings(GradientDrift(), falling(300), grad_l2=norms) == []
    before = leaves(300, 180)
    assert findings(GradientDrift(), before, grad_l2=norms) == []


def test_an_outlier_long_before_is_another_matter():
    norms = falling(500, seed=1)
    norms[200] *= 6
    assert findings(GradientDrift(), leaves(500, 440), grad_l2=norms) == []


def test_a_level_that_stays_up_is_a_note():
    norms = [v * (1.12 if step >= 300 else 1.0) for step, v in enumerate(falling(400, seed=1))]
    found = findings(GradientDrift(), leaves(400, 350), grad_l2=norms)
    (told,) = (f.message for f in found if "and stays up after 33 steps" in f.message)
    assert "; expected it to come back. " in told  # no limit that its distance does not pass


def test_two_signs_of_the_moving_average_are_a_note():
    norms = [v * 1.02 ** max(step - 400, 0) for step, v in enumerate(falling(520, end=2.5, seed=1))]
    found = findings(GradientDrift(), leaves(520, 470), grad_l2=norms)
    assert any("standard deviations above the last 100 steps and " in f.message for f in found)


def test_stays_silent_on_a_healthy_norm():
    assert not findings(GradientDrift(), falling(600), grad_l2=falling(600, seed=1))


def test_steps_without_gradient_say_nothing():
    norms = [0.0 if step % 2 else v for step, v in enumerate(falling(600, seed=1))]
    assert not findings(GradientDrift(), falling(600), grad_l2=norms)


def test_a_gradient_of_another_loss_is_no_sign():
    norms = [v * (6.0 if step >= 200 else 1.0) for step, v in enumerate(falling(300, seed=1))]
    at = StepRef(iteration=200, step=200)
    own = LoopChange(ref=at, function="mul", of_loss=True, steps=25, frame=Frame("train.py", 31, "main"))
    assert findings(GradientDrift(), leaves(300, 200), grad_l2=norms)
    assert findings(GradientDrift(), leaves(300, 200), [own], grad_l2=norms) == []
