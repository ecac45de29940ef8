"""Growth until the range ends."""

from __future__ import annotations

from debugtracer.testing import a_birth, a_tensor, signs_of, some_facts

OVERFLOW = a_birth("aten::addmm", a_tensor(1e30), output=a_tensor(inf=8), kind="overflow")
GROWING = {"loss": [1.0, 1.1, 30.0, 900.0]}


def test_fires_after_a_loss_that_grew():
    signs = signs_of("lr-too-high", some_facts(OVERFLOW, recent=GROWING))
    assert signs is not None
    assert signs.because == "values grew 818-fold in the last steps until addmm overflowed (lr = 0.001)"


def test_a_gradient_that_grew_far_more_speaks_against_it():
    signs = signs_of("lr-too-high", some_facts(OVERFLOW, recent={**GROWING, "grad_l2": [1.0, 1.0, 1.0, 1e9]}))
    assert signs is not None
    assert signs.against == ("gradients grew far more than the loss",)


def test_stays_silent_on_a_calm_run_and_in_float16():
    assert signs_of("lr-too-high", some_facts(OVERFLOW)) is None
    assert signs_of("lr-too-high", some_facts(a_birth("aten::mm", output=a_tensor(inf=1, dtype="float16"), kind="overflow"), recent=GROWING)) is None
