"""The step inherits a bad weight."""

from __future__ import annotations

from debugtracer.testing import a_birth, evidence_of, some_facts


def test_a_bad_parameter_on_entry_comes_from_an_earlier_step():
    evidence = evidence_of(
        "weights-nonfinite",
        some_facts(a_birth(None, kind="input", direction="input", input_name="parameter head.weight")),
    )
    assert evidence is not None
    assert (
        evidence.because == "parameter head.weight was already non-finite when the step began: an earlier step made it"
    )


def test_in_the_first_step_it_comes_from_a_checkpoint_or_the_init():
    evidence = evidence_of(
        "weights-nonfinite",
        some_facts(a_birth(None, kind="input", direction="input", input_name="buffer bn.running_var"), step=0),
    )
    assert evidence is not None
    assert "before the first step: a checkpoint or an initialisation made it" in evidence.because


def test_stays_silent_on_a_bad_batch():
    assert (
        evidence_of(
            "weights-nonfinite", some_facts(a_birth(None, kind="input", direction="input", input_name="batch[0]"))
        )
        is None
    )
