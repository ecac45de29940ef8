"""Outside the domain."""

from __future__ import annotations

import msgspec

from debugtracer.testing import a_birth, a_tensor, evidence_of, some_facts


def test_fires_on_sqrt_of_a_negative_number():
    evidence = evidence_of("function-domain", some_facts(a_birth("aten::sqrt", a_tensor(-1e-7))))
    assert evidence is not None
    assert evidence.because == "sqrt of -1e-07 is not a number: it is defined for numbers >= 0"


def test_stays_silent_in_backward_and_on_other_ops():
    assert (
        evidence_of("function-domain", some_facts(a_birth("aten::sqrt", a_tensor(0.0), direction="backward"))) is None
    )
    assert evidence_of("function-domain", some_facts(a_birth("aten::mm"))) is None


def test_stays_silent_when_the_function_is_only_a_part_of_a_fused_op():
    assert (
        evidence_of("function-domain", some_facts(a_birth("aten::native_layer_norm", inner_op="aten::rsqrt"))) is None
    )


def test_a_number_that_the_loader_gave_is_looked_for_in_its_record():
    facts = msgspec.structs.replace(some_facts(a_birth("aten::sqrt", a_tensor(-0.27))), held_in="batch[1]")
    evidence = evidence_of("function-domain", facts)
    assert evidence is not None
    assert evidence.because.endswith("numbers >= 0, and batch[1] holds that number as the loader gave it")
    assert evidence.remedies[0].startswith("look at the record of that sample")
