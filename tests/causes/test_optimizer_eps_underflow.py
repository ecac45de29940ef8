"""eps that is 0 in the dtype of the weights."""

from __future__ import annotations

from debugtracer.testing import a_birth, a_tensor, evidence_of, some_facts
from debugtracer.trace.incident import OptimizerFacts

SLUG = "optimizer-eps-underflow"


def update(eps, dtype, op="aten::addcdiv"):
    return some_facts(
        a_birth(op, a_tensor(0.0), direction="update", kind="0/0"),
        optimizer=OptimizerFacts(kind="Adam", eps=eps, param_dtypes=(dtype,)),
    )


def test_fires_on_half_weights_with_the_default_eps():
    evidence = evidence_of(SLUG, update(1e-8, "torch.float16"))
    assert evidence is not None
    assert evidence.confidence == 0.95
    assert evidence.because == (
        "Adam divides by sqrt(v) + eps in addcdiv, and eps = 1e-08 is 0 in float16, as is the square of a small "
        "gradient"
    )


def test_fires_on_eps_zero_in_float32():
    evidence = evidence_of(SLUG, update(0.0, "float32"))
    assert evidence is not None
    assert "eps is 0" in evidence.because


def test_half_of_the_smallest_value_still_rounds_to_zero_and_more_does_not():
    assert evidence_of(SLUG, update(2.0**-25, "float16")) is not None
    assert evidence_of(SLUG, update(2.0**-24, "float16")) is None


def test_stays_silent_in_bfloat16_outside_the_update_and_on_other_ops():
    assert evidence_of(SLUG, update(1e-8, "bfloat16")) is None
    assert evidence_of(SLUG, update(1e-8, "float16", op="aten::add")) is None
    assert evidence_of(SLUG, some_facts(a_birth("aten::div", direction="backward"))) is None
