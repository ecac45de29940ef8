"""An eps that float16 cannot hold."""

from __future__ import annotations

from debugtracer.testing import a_birth, a_tensor, evidence_of, some_facts

SLUG = "norm-eps-underflow"
HALF = a_tensor(nan=4, dtype="float16")


def test_fires_on_a_division_by_a_clamped_norm_in_float16():
    divisor = a_tensor(0.0, dtype="float16", made_by="aten::clamp_min")
    evidence = evidence_of(
        SLUG, some_facts(a_birth("aten::div", a_tensor(0.0, dtype="float16"), divisor, output=HALF, kind="0/0"))
    )
    assert evidence is not None
    assert evidence.confidence == 0.93


def test_fires_on_rsqrt_of_zero_in_float16():
    assert (
        evidence_of(SLUG, some_facts(a_birth("aten::rsqrt", a_tensor(0.0, dtype="float16"), output=HALF))) is not None
    )


def test_stays_silent_in_float32_and_when_the_divisor_is_not_zero():
    assert evidence_of(SLUG, some_facts(a_birth("aten::div", a_tensor(0.0), a_tensor(0.0), kind="0/0"))) is None
    assert (
        evidence_of(
            SLUG,
            some_facts(
                a_birth("aten::div", a_tensor(9.0, dtype="float16"), a_tensor(0.1, dtype="float16"), output=HALF)
            ),
        )
        is None
    )


def test_fires_on_a_layer_norm_without_eps_in_float32():
    evidence = evidence_of(
        SLUG, some_facts(a_birth("aten::native_layer_norm", a_tensor(0.0), inner_op="aten::mul", kind="0*inf"))
    )
    assert evidence is not None
    assert (
        evidence.because
        == "native_layer_norm divides by 0 in float32: the values are constant and eps is 0 or too small"
    )


def test_stays_silent_on_a_layer_norm_of_bad_numbers():
    assert evidence_of(SLUG, some_facts(a_birth("aten::native_layer_norm", a_tensor(inf=3), kind="inf-inf"))) is None
