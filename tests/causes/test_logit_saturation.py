"""Scores beyond the range."""

from __future__ import annotations

from debugtracer.testing import a_birth, a_tensor, evidence_of, some_facts

FLASH = "aten::_scaled_dot_product_flash_attention_for_cpu"


def test_fires_inside_a_fused_attention_without_a_mask():
    evidence = evidence_of(
        "logit-saturation",
        some_facts(a_birth(FLASH, a_tensor(1e20), a_tensor(1e20), inner_op="aten::bmm", kind="overflow")),
    )
    assert evidence is not None
    assert evidence.because == (
        "the scores inside scaled_dot_product_flash_attention_for_cpu are beyond the range of float32, and Inf - Inf "
        "is NaN"
    )


def test_fires_on_a_softmax_of_plus_inf():
    assert (
        evidence_of("logit-saturation", some_facts(a_birth("aten::_softmax", a_tensor(inf=2), kind="inf-inf")))
        is not None
    )


def test_stays_silent_on_a_masked_row_and_in_float16():
    assert (
        evidence_of("logit-saturation", some_facts(a_birth("aten::_softmax", a_tensor(neginf=2), kind="inf-inf")))
        is None
    )
    assert evidence_of("logit-saturation", some_facts(a_birth(FLASH, a_tensor(neginf=2), kind="inf-inf"))) is None
    assert (
        evidence_of(
            "logit-saturation", some_facts(a_birth(FLASH, output=a_tensor(inf=2, dtype="float16"), kind="overflow"))
        )
        is None
    )
