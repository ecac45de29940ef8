"""A constant feature over its spread."""

from __future__ import annotations

from debugtracer.testing import a_birth, a_tensor, evidence_of, some_facts


def test_fires_when_a_standard_deviation_made_the_divisor():
    evidence = evidence_of(
        "normalisation-zero-std",
        some_facts(a_birth("aten::div", a_tensor(0.0), a_tensor(0.0, made_by="aten::std"), kind="0/0")),
    )
    assert evidence is not None
    assert evidence.because == "div divides by a standard deviation that is 0: the values are constant"


def test_stays_silent_on_a_count_and_on_a_spread_above_zero():
    assert (
        evidence_of(
            "normalisation-zero-std",
            some_facts(a_birth("aten::div", a_tensor(0.0), a_tensor(0.0, made_by="aten::sum"), kind="0/0")),
        )
        is None
    )
    assert (
        evidence_of(
            "normalisation-zero-std",
            some_facts(a_birth("aten::div", a_tensor(1.0), a_tensor(0.5, made_by="aten::std"))),
        )
        is None
    )
