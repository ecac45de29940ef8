"""The batch brings the NaN."""

from __future__ import annotations

from debugtracer.testing import a_birth, a_tensor, evidence_of, some_facts


def input_facts(name):
    return some_facts(
        a_birth(None, kind="input", direction="input", input_name=name, output=a_tensor(shape=(32, 6), nan=1))
    )


def test_a_bad_batch_is_an_exact_invariant():
    evidence = evidence_of("data-nonfinite", input_facts("batch[0]"))
    assert evidence is not None
    assert evidence.exact
    assert evidence.because == "batch[0] holds non-finite values (1 NaN, 0 Inf) before the model sees it"


def test_a_tensor_of_unknown_origin_is_likely_only():
    evidence = evidence_of("data-nonfinite", input_facts("input of sin"))
    assert evidence is not None
    assert (evidence.exact, evidence.confidence) == (False, 0.75)


def test_stays_silent_on_a_bad_parameter_and_on_an_op():
    assert evidence_of("data-nonfinite", input_facts("parameter head.weight")) is None
    assert evidence_of("data-nonfinite", some_facts(a_birth("aten::log"))) is None
    assert evidence_of("data-nonfinite", some_facts(None)) is None
