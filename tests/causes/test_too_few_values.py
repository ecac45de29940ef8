"""The spread of one value."""

from __future__ import annotations

from debugtracer.testing import a_birth, a_tensor, signs_of, some_facts


def test_fires_on_a_standard_deviation_that_is_nan():
    signs = signs_of("too-few-values", some_facts(a_birth("aten::std", a_tensor(1.0, shape=(1, 5)), kind="0/0")))
    assert signs is not None
    assert signs.because == "std takes the spread of a single value of a tensor of shape [1, 5], which is 0/0"


def test_stays_silent_when_its_input_was_bad_or_it_overflowed():
    assert signs_of("too-few-values", some_facts(a_birth("aten::std", a_tensor(inf=1)))) is None
    assert signs_of("too-few-values", some_facts(a_birth("aten::var", a_tensor(1e30), kind="overflow"))) is None
