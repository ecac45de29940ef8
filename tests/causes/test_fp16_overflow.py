"""Beyond 65504."""

from __future__ import annotations

from debugtracer.testing import a_birth, a_tensor, evidence_of, some_facts
from debugtracer.trace.incident import OptimizerFacts

INF_HALF = a_tensor(inf=3, dtype="float16")


def test_fires_on_a_product_in_float16():
    evidence = evidence_of(
        "fp16-overflow",
        some_facts(a_birth("aten::bmm", a_tensor(60960.0, dtype="float16"), output=INF_HALF, kind="overflow")),
    )
    assert evidence is not None
    assert evidence.because == "3 elements of the result of bmm lie beyond 65504, the end of float16"


def test_names_the_loss_scale_in_backward():
    facts = some_facts(
        a_birth("aten::mm", output=INF_HALF, kind="overflow", direction="backward"),
        optimizer=OptimizerFacts(kind="SGD", scale=65536.0),
    )
    evidence = evidence_of("fp16-overflow", facts)
    assert evidence is not None
    assert evidence.because.endswith("the end of float16, with the loss scaled by 65536")


def test_a_value_that_float32_could_not_hold_either_is_another_cause():
    evidence = evidence_of(
        "fp16-overflow",
        some_facts(a_birth("aten::exp", a_tensor(200.0, dtype="float16"), output=INF_HALF, kind="overflow")),
    )
    assert evidence is not None
    assert evidence.against == ("float32 would overflow here too",)


def test_stays_silent_in_float32_and_on_a_division_by_zero():
    assert (
        evidence_of("fp16-overflow", some_facts(a_birth("aten::mm", output=a_tensor(inf=1), kind="overflow"))) is None
    )
    assert evidence_of("fp16-overflow", some_facts(a_birth("aten::div", output=INF_HALF, kind="domain"))) is None


def test_stays_silent_on_a_division_by_zero_whatever_it_is_called():
    zero = a_tensor(0.0, dtype="float16")
    assert (
        evidence_of(
            "fp16-overflow",
            some_facts(a_birth("aten::div", a_tensor(1.0, dtype="float16"), zero, output=INF_HALF, kind="overflow")),
        )
        is None
    )
