"""The spread of one value."""

from __future__ import annotations

from debugtracer.testing import a_birth, a_tensor, evidence_of, some_facts


def test_fires_on_a_standard_deviation_that_is_nan():
    evidence = evidence_of("too-few-values", some_facts(a_birth("aten::std", a_tensor(1.0, shape=(1, 5)), kind="0/0")))
    assert evidence is not None
    assert evidence.seen  # a trial that leaves the single value as it is refutes nothing
    assert evidence.because == "std takes the spread of a single value of a tensor of shape [1, 5], which is 0/0"


def test_stays_silent_when_its_input_was_bad_or_it_overflowed():
    assert evidence_of("too-few-values", some_facts(a_birth("aten::std", a_tensor(inf=1)))) is None
    assert evidence_of("too-few-values", some_facts(a_birth("aten::var", a_tensor(1e30), kind="overflow"))) is None
