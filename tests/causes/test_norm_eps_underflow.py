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


def division(*divisor, dtype="float16", made_by="", **more):
    given = a_tensor(0.0, dtype=dtype), a_tensor(*divisor, dtype=dtype, made_by=made_by)
    birth = a_birth("aten::div", *given, output=a_tensor(nan=4, dtype=dtype), **{"kind": "0/0", **more})
    found = evidence_of(SLUG, some_facts(birth))
    return None if found is None else found.confidence


def test_a_division_is_one_by_zero_alone_in_float16_in_forward():
    assert division(0.0, 0.0) == 0.6
    assert division(0.0, made_by="aten::add") == 0.93
    assert division(0.0, made_by="aten::mul") == 0.6
    assert division(0.0, 1.0) is None
    assert division() is None
    assert division(0.0, dtype="float32") is None
    assert division(0.0, direction="backward") is None
    assert division(0.0, kind="overflow") is None
    assert division(0.0, kind="uninitialised") is None


def test_a_root_is_one_in_float16_and_the_remedy_follows_the_dtype():
    root = a_birth("aten::rsqrt", a_tensor(0.0), output=a_tensor(inf=4))
    assert evidence_of(SLUG, some_facts(root)) is None
    half = evidence_of(SLUG, some_facts(a_birth("aten::rsqrt", a_tensor(0.0), output=HALF)))
    assert (half.confidence, half.remedies[0]) == (
        0.8,
        "normalise in float32: x.float() before the norm, back to half after it",
    )
    full = evidence_of(SLUG, some_facts(a_birth("aten::native_layer_norm", a_tensor(0.0), kind="0*inf")))
    assert full.remedies[0] == "give the normalisation its eps back: 1e-5"
    for bad in (a_tensor(nan=1), a_tensor(inf=1), a_tensor(neginf=1)):
        assert evidence_of(SLUG, some_facts(a_birth("aten::native_layer_norm", bad, kind="0*inf"))) is None
