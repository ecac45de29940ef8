"""Overflow in backward."""

from __future__ import annotations

from debugtracer.testing import a_birth, a_tensor, evidence_of, some_facts

BACKWARD = a_birth("aten::mm", output=a_tensor(inf=8), kind="overflow", direction="backward")


def test_fires_on_an_overflow_in_backward():
    evidence = evidence_of("exploding-gradients", some_facts(BACKWARD))
    assert evidence is not None
    assert evidence.because == "the gradient overflows in the derivative of mm"


def test_is_surer_after_growth():
    calm, grown = (
        evidence_of("exploding-gradients", some_facts(BACKWARD, recent={"grad_l2": g}))
        for g in ([1.0] * 4, [1.0, 1.0, 1.0, 1e6])
    )
    assert calm is not None
    assert grown is not None
    assert grown.confidence > calm.confidence


def test_stays_silent_on_a_forward_overflow_of_a_calm_run():
    assert (
        evidence_of("exploding-gradients", some_facts(a_birth("aten::mm", output=a_tensor(inf=8), kind="overflow")))
        is None
    )


def test_hundredfold_growth_is_the_least_and_the_derivative_needs_none():
    forward = a_birth("aten::mm", output=a_tensor(inf=8), kind="overflow")

    def told(birth, last):
        found = evidence_of("exploding-gradients", some_facts(birth, recent={"grad_l2": [1.0, 1.0, last]}))
        return None if found is None else found.confidence

    assert (told(forward, 100.0), told(forward, 99.0)) == (0.6, None)
    assert (told(BACKWARD, 100.0), told(BACKWARD, 99.0)) == (0.75, 0.6)
    assert told(a_birth("aten::mm", output=a_tensor(inf=8), kind="inf-inf", direction="backward"), 100.0) is None
    half = a_tensor(inf=8, dtype="float16")
    assert told(a_birth("aten::mm", output=half, kind="overflow", direction="backward"), 100.0) is None
    assert told(None, 100.0) is None
