"""A row without a key."""

from __future__ import annotations

from math import inf

from debugtracer.testing import a_birth, a_masked_row, a_tensor, evidence_of, some_facts

SLUG = "masked-softmax-all-masked"


def test_fires_on_a_row_in_which_every_score_is_minus_inf():
    evidence = evidence_of(SLUG, a_masked_row())
    assert evidence is not None
    assert evidence.confidence == 0.95
    assert evidence.because == "every score of a row is -inf (the mask leaves nothing) and softmax of such a row is NaN"


def test_fires_inside_a_fused_attention_by_the_op_of_its_decomposition():
    birth = a_birth(
        "aten::scaled_dot_product_attention",
        a_tensor(1.0),
        a_tensor(0.5),
        a_tensor(neginf=12),
        inner_op="aten::_softmax",
        kind="inf-inf",
    )
    assert evidence_of(SLUG, some_facts(birth)) is not None


def test_fires_on_a_softmax_written_by_hand():
    evidence = evidence_of(SLUG, some_facts(a_birth("aten::sub", a_tensor(-inf), a_tensor(-inf), kind="inf-inf")))
    assert evidence is not None
    assert "-inf minus its maximum" in evidence.because


def test_stays_silent_on_a_softmax_of_plus_inf():
    assert evidence_of(SLUG, some_facts(a_birth("aten::_softmax", a_tensor(inf, inf=1), kind="inf-inf"))) is None


def test_stays_silent_in_backward():
    assert (
        evidence_of(SLUG, some_facts(a_birth("aten::_softmax", a_tensor(-inf, neginf=4), direction="backward"))) is None
    )
