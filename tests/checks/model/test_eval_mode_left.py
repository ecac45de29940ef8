"""Does the model still train in evaluation mode after an evaluation?"""

from __future__ import annotations

from debugtracer.checks.model.eval_mode_left import EvalModeLeft
from debugtracer.trace.facts.module_modes import ModuleModes
from tests.checks.facts_at import judged, line, ref


def modes(step: int, training: int, **fields: object) -> ModuleModes:
    return ModuleModes(ref=ref(step), root="Net", total=3, training=training, **fields)  # type: ignore[arg-type]


LEFT = {"whole": True, "evaluated": True, "frame": line(61, "model.eval()")}


def test_a_forgotten_train_is_told_at_the_eval_call():
    (finding,) = judged(EvalModeLeft(), [modes(0, 3), modes(40, 0, **LEFT)], loss=(0.5,) * 43)
    assert finding.message == (
        "step 40, rank 0: all 3 dropout and batch-norm layers of Net are in evaluation mode since model.eval() at line "
        "61, in 3 backwards; "
        "expected training mode, as before. Call model.train() after the evaluation."
    )
    assert (finding.severity, finding.kind, finding.place.frame.line) == ("error", "train_eval_mode", 61)


def test_two_backwards_are_not_enough():
    assert not judged(EvalModeLeft(), [modes(0, 3), modes(40, 0, **LEFT)], loss=(0.5,) * 42)


def test_evaluation_mode_from_the_start_and_a_return_are_silent():
    assert not judged(EvalModeLeft(), [modes(0, 0, **LEFT)], loss=(0.5,) * 90)
    assert not judged(EvalModeLeft(), [modes(0, 3), modes(40, 0, **LEFT), modes(41, 3)], loss=(0.5,) * 90)


def test_frozen_norms_are_silent_and_a_partial_switch_is_a_note():
    assert not judged(EvalModeLeft(), [modes(0, 3), modes(40, 1, norms_only=True)], loss=(0.5,) * 90)
    assert [f.severity for f in judged(EvalModeLeft(), [modes(0, 3), modes(40, 1)], loss=(0.5,) * 90)] == ["note"]
    assert [f.severity for f in judged(EvalModeLeft(), [modes(0, 3), modes(40, 0, whole=True)], loss=(0.5,) * 90)] == [
        "note"
    ]


def test_a_model_that_was_never_in_training_mode_though_train_was_called_is_a_warning():
    given = modes(0, 0, **(LEFT | {"asked": line(55, "model.train()")}))
    assert not judged(EvalModeLeft(), [given], loss=(0.5,) * 15)
    assert not judged(EvalModeLeft(), [given, modes(9, 3)], loss=(0.5,) * 90)
    (finding,) = judged(EvalModeLeft(), [given], loss=(0.5,) * 90)
    assert finding.message == (
        "step 0, rank 0: all 3 dropout and batch-norm layers of Net were in evaluation mode in each of the first 16 "
        "backwards: model.eval() at line 61 comes after model.train() at line 55; expected training mode where an "
        "optimizer trains. Call model.train() after line 61."
    )
    assert (finding.severity, finding.exact, finding.place.frame.line) == ("warning", False, 61)
