"""What the gate has seen of an update: bad numbers, other optimizers of the same backward, and that it forgets."""

from __future__ import annotations

import math

import pytest

from debugtracer.recorder.gate.step_health import StepHealth


@pytest.mark.parametrize(
    ("losses", "gradient", "bad"),
    [([0.5], False, False), ([], False, False), ([0.5, math.nan], False, True), ([0.5], True, True)],
)
def test_a_bad_number_makes_the_step_bad(losses: list[float], gradient: bool, bad: bool) -> None:
    health = StepHealth()
    health.judged(losses, gradient, 1)
    assert health.bad is bad


def test_the_first_bad_loss_is_kept() -> None:
    health = StepHealth()
    health.judged([0.5, math.inf, math.nan], False, 1)
    assert health.loss == math.inf


def test_the_next_optimizer_of_the_same_backward_is_bad_too() -> None:
    health = StepHealth()
    health.held(step=4, iteration=5)
    health.judged([], False, 5)
    assert health.bad and health.sibling
    health.judged([], False, 6)
    assert not health.bad


def test_what_was_answered_is_forgotten() -> None:
    health = StepHealth()
    health.wrote_bad_weights()
    assert health.bad and health.weights
    health.forget()
    assert not (health.bad or health.weights or health.gradient or health.sibling)
