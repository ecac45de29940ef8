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
