"""A negative base and a fractional exponent."""

from __future__ import annotations

from debugtracer.testing import a_birth, a_tensor, evidence_of, some_facts


def test_fires_on_a_negative_base():
    evidence = evidence_of("pow-domain", some_facts(a_birth("aten::pow", a_tensor(-0.5))))
    assert evidence is not None
    assert evidence.because == "pow raises a negative number (seen: -0.5) to a fractional power, which is NaN"


def test_stays_silent_on_an_overflow_and_on_a_positive_base():
    assert (
        evidence_of(
            "pow-domain", some_facts(a_birth("aten::pow", a_tensor(-1e30), output=a_tensor(inf=1), kind="overflow"))
        )
        is None
    )
    assert evidence_of("pow-domain", some_facts(a_birth("aten::pow", a_tensor(2.0)))) is None
