"""Overflow that nothing explains."""

from __future__ import annotations

from debugtracer.testing import a_birth, a_tensor, evidence_of, some_facts


def test_fires_on_an_overflow_in_float32():
    evidence = evidence_of(
        "activation-overflow", some_facts(a_birth("aten::mul", output=a_tensor(inf=1), kind="overflow", rows=(3,)))
    )
    assert evidence is not None
    assert (
        evidence.because == "the result of mul lies beyond 3.4e+38, the end of float32 in a few rows of the batch only"
    )


def test_stays_silent_in_float16_and_on_a_domain_error():
    assert (
        evidence_of(
            "activation-overflow",
            some_facts(a_birth("aten::mul", output=a_tensor(inf=1, dtype="float16"), kind="overflow")),
        )
        is None
    )
    assert evidence_of("activation-overflow", some_facts(a_birth("aten::log"))) is None


def test_an_infinity_that_the_program_gave_is_no_overflow():
    birth = a_birth("aten::mul", output=a_tensor(inf=1), kind="overflow", number="-Infinity")
    assert evidence_of("activation-overflow", some_facts(birth)) is None
