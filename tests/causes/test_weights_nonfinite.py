"""The step inherits a bad weight."""

from __future__ import annotations

from debugtracer.testing import a_birth, signs_of, some_facts


def test_a_bad_parameter_on_entry_comes_from_an_earlier_step():
    signs = signs_of("weights-nonfinite", some_facts(a_birth(None, kind="input", direction="input", input_name="parameter head.weight")))
    assert signs is not None
    assert signs.because == "parameter head.weight was already non-finite when the step began: an earlier step made it"


def test_in_the_first_step_it_comes_from_a_checkpoint_or_the_init():
    signs = signs_of("weights-nonfinite", some_facts(a_birth(None, kind="input", direction="input", input_name="buffer bn.running_var"), step=0))
    assert signs is not None
    assert "before the first step: a checkpoint or an initialisation made it" in signs.because


def test_stays_silent_on_a_bad_batch():
    assert signs_of("weights-nonfinite", some_facts(a_birth(None, kind="input", direction="input", input_name="batch[0]"))) is None
