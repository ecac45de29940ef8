"""Outside the domain."""

from __future__ import annotations

from debugtracer.testing import a_birth, a_tensor, evidence_of, some_facts


def test_fires_on_sqrt_of_a_negative_number():
    evidence = evidence_of("function-domain", some_facts(a_birth("aten::sqrt", a_tensor(-1e-7))))
    assert evidence is not None
    assert evidence.because == "sqrt of -1e-07 is not a number: it is defined for numbers >= 0"


def test_stays_silent_in_backward_and_on_other_ops():
    assert (
        evidence_of("function-domain", some_facts(a_birth("aten::sqrt", a_tensor(0.0), direction="backward"))) is None
    )
    assert evidence_of("function-domain", some_facts(a_birth("aten::mm"))) is None


def test_stays_silent_when_the_function_is_only_a_part_of_a_fused_op():
    assert (
        evidence_of("function-domain", some_facts(a_birth("aten::native_layer_norm", inner_op="aten::rsqrt"))) is None
    )
