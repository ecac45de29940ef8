"""The step inherits a bad weight."""

from __future__ import annotations

from debugtracer.causes.weights_nonfinite import by_own_line
from debugtracer.testing import a_birth, evidence_of, some_facts
from debugtracer.trace.birth import Frame
from debugtracer.trace.incident import WeightWrite


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


def test_a_line_of_the_program_that_wrote_it_is_named_in_place_of_an_earlier_step():
    frame = Frame("/w/train.py", 20, "put_back", "p.copy_(total / seen)")
    made = Frame("/w/train.py", 18, "put_back", "value = total / seen")
    facts = some_facts(
        a_birth(None, kind="input", direction="input", input_name="parameter head.weight"),
        written=(WeightWrite(params=("head.weight",), op="copy_", frame=frame, source=made),),
    )
    evidence = evidence_of("weights-nonfinite", facts)
    assert evidence is not None
    assert evidence.because == (
        "parameter head.weight is non-finite since the program itself wrote it (copy_ at train.py:20, with a value "
        "made at line 18), after the last update"
    )
    assert evidence.place is not None
    assert evidence.place.frame == frame
    assert evidence.remedies[0].startswith("look at the value that train.py:20 writes")


def test_a_write_that_the_replay_executes_is_no_reason():
    frame = Frame("/w/train.py", 20, "put_back", "p.copy_(total / seen)")
    facts = some_facts(
        a_birth(None, kind="input", direction="input", input_name="parameter head.weight"),
        written=(WeightWrite(params=("head.weight",), op="copy_", frame=frame, replayed=True),),
    )
    evidence = evidence_of("weights-nonfinite", facts)
    assert evidence is not None
    assert "an earlier step made it" in evidence.because


def test_the_line_that_made_the_value_is_told_where_it_is_another_and_a_proof_is_surer():
    frame, made = Frame("/w/train.py", 20), Frame("/w/train.py", 18)

    def told(source, first=False, exact=False):
        return by_own_line(
            "parameter w", WeightWrite(params=("w",), op="copy_", frame=frame, source=source), first, exact
        )

    assert "(copy_ at train.py:20, with a value made at line 18)" in told(made).because
    assert "(copy_ at train.py:20)" in told(frame).because
    assert "(copy_ at train.py:20)" in told(None).because
    assert (told(None).confidence, told(None).exact) == (0.85, False)
    assert (told(None, exact=True).confidence, told(None, exact=True).exact) == (0.97, True)
    assert told(None, first=True).because.endswith("before the first update")
    assert told(None).place.param == "w"


def test_gradients_and_states_are_kept_from_before_too_and_a_value_born_in_the_step_is_not():
    def told(name, kind="input"):
        return evidence_of(
            "weights-nonfinite", some_facts(a_birth(None, kind=kind, direction="input", input_name=name))
        )

    assert [told(name) is not None for name in ("gradient w", "state exp_avg of w", "buffer b", "a tensor", None)] == [
        True,
        True,
        True,
        False,
        False,
    ]
    assert told("parameter w", kind="domain") is None


def test_in_the_first_step_the_line_of_the_constructor_is_named():
    frame = Frame("/w/model.py", 18, "__init__", "self.gain = nn.Parameter(torch.log(gain))")
    birth = a_birth(None, kind="input", direction="input", input_name="parameter mix.gain")
    evidence = evidence_of("weights-nonfinite", some_facts(birth, step=0, made=(frame,)))
    assert evidence is not None and evidence.place is not None
    assert evidence.because == "parameter mix.gain was already non-finite before the first step, made at model.py:18"
    assert (evidence.place.frame, evidence.place.param) == (frame, "mix.gain")
    assert evidence.remedies[0].endswith("a divisor that can be 0, at model.py:18")
    later = evidence_of("weights-nonfinite", some_facts(birth, step=3, made=(frame,)))
    assert later is not None and "an earlier step made it" in later.because
