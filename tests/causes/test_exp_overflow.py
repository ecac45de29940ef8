"""exp beyond the range."""

from __future__ import annotations

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
