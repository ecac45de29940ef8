"""exp beyond the range."""

from __future__ import annotations

import pytest

from debugtracer.testing import a_birth, a_tensor, evidence_of, some_facts


def test_fires_on_exp_of_95_in_float32():
    evidence = evidence_of(
        "exp-overflow", some_facts(a_birth("aten::exp", a_tensor(95.3), output=a_tensor(inf=1), kind="overflow"))
    )
    assert evidence is not None
    assert evidence.confidence == 0.93
    assert evidence.because == "exp takes the exponential of 95.3, which float32 can hold up to exp(88.72) only"


def test_in_float16_the_dtype_is_the_likelier_cause():
    facts = some_facts(
        a_birth("aten::exp", a_tensor(12.0, dtype="float16"), output=a_tensor(inf=1, dtype="float16"), kind="overflow")
    )
    exp, half = evidence_of("exp-overflow", facts), evidence_of("fp16-overflow", facts)
    assert exp is not None
    assert half is not None
    assert half.confidence > exp.confidence


def test_stays_silent_when_exp_gives_nan():
    assert evidence_of("exp-overflow", some_facts(a_birth("aten::exp", a_tensor(1.0), output=a_tensor(nan=1)))) is None


def test_a_product_of_vectors_of_any_length():
    """The exponent is a matrix product that the line scales: a similarity without its norms."""
    code = "sim = torch.exp(torch.mm(out, out.t()) / t)"
    grown = a_birth(
        "aten::exp", a_tensor(117.3, 126.4, made_by="aten::div"), output=a_tensor(inf=2), kind="overflow", code=code
    )
    evidence = evidence_of("exp-overflow", some_facts(grown))
    assert evidence is not None and evidence.seen
    assert "of 117.3, 126.4, a product of vectors whose lengths nothing bounds, which float32" in evidence.because
    assert "F.normalize" in evidence.remedies[0]


@pytest.mark.parametrize(
    ("made_by", "code"),
    [("aten::div", "w = torch.exp(score / t)"), ("aten::add", "w = torch.exp(a @ b + c)"), ("", "w = torch.exp(x)")],
)
def test_other_exponents_are_no_products(made_by: str, code: str):
    grown = a_birth("aten::exp", a_tensor(117.3, made_by=made_by), output=a_tensor(inf=1), kind="overflow", code=code)
    evidence = evidence_of("exp-overflow", some_facts(grown))
    assert evidence is not None and "product" not in evidence.because
    assert "bound the exponent" in evidence.remedies[0]
