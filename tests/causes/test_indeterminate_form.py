"""Arithmetic without an answer."""

from __future__ import annotations

from debugtracer.testing import a_birth, a_tensor, evidence_of, some_facts


def test_names_the_arithmetic():
    evidence = evidence_of("indeterminate-form", some_facts(a_birth("aten::sub", kind="inf-inf")))
    assert evidence is not None
    assert evidence.because == "sub subtracts Inf from Inf"


def test_stays_silent_on_an_overflow_and_without_a_birth():
    assert evidence_of("indeterminate-form", some_facts(a_birth("aten::mm", kind="overflow"))) is None
    assert evidence_of("indeterminate-form", some_facts(None)) is None


def test_a_constant_that_the_program_puts_there_is_told_as_that():
    evidence = evidence_of(
        "indeterminate-form", some_facts(a_birth("aten::fill_", kind="domain", output=a_tensor(inf=1)))
    )
    assert evidence is not None
    assert evidence.because == "the program itself writes Inf there (fill)"
    assert evidence.remedies[0].startswith("look at this line: it puts a non-finite constant")


def test_a_mask_that_is_multiplied_by_an_infinity():
    birth = a_birth("aten::mul", kind="overflow", output=a_tensor(inf=3, nan=5), number="-Infinity")
    evidence = evidence_of("indeterminate-form", some_facts(birth))
    assert evidence is not None
    assert evidence.because == "mul multiplies by the number -inf, and 0 times Inf is NaN"
    assert "masked_fill" in evidence.remedies[0]
    for other in ({"output": a_tensor(inf=3)}, {"number": "NaN"}, {"number": None}):
        kept = {"kind": "overflow", "output": a_tensor(inf=3, nan=5), "number": "-Infinity", **other}
        assert evidence_of("indeterminate-form", some_facts(a_birth("aten::mul", **kept))) is None
