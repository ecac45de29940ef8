"""Targets whose weights are all zero."""

from __future__ import annotations

from debugtracer.testing import a_birth, a_tensor, evidence_of, some_facts

SLUG = "class-weights-zero"


def weighted(low):
    inputs = a_tensor(-3.0, shape=(8, 4)), a_tensor(0.0, 3.0, shape=(8,), dtype="int64"), a_tensor(low, 1.0, shape=(4,))
    return some_facts(a_birth("aten::nll_loss_forward", *inputs, kind="0/0"))


def test_fires_when_a_class_weight_is_zero():
    evidence = evidence_of(SLUG, weighted(0.0))
    assert evidence is not None
    assert evidence.whole_batch


def test_stays_silent_when_all_weights_are_positive_or_there_are_none():
    assert evidence_of(SLUG, weighted(0.5)) is None
    assert (
        evidence_of(
            SLUG,
            some_facts(a_birth("aten::nll_loss_forward", a_tensor(-3.0), a_tensor(3.0, dtype="int64"), kind="0/0")),
        )
        is None
    )
    assert evidence_of(SLUG, some_facts(a_birth("aten::div", kind="0/0"))) is None
