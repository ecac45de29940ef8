"""Is the target of a language model the next token?"""

from __future__ import annotations

from debugtracer.checks.model.target_shift import TargetShift
from debugtracer.trace.facts.function_test import FunctionTest
from tests.checks.facts_at import judged, line, ref


def fact(trial="shifted_token", changed=True, loss_of=""):
    made = (line(14), line(30))
    return FunctionTest(ref=ref(), trial=trial, root="Writer", changed=changed, position=2, made=made, loss_of=loss_of)


def test_a_token_further_on_is_told_where_the_targets_are_made():
    (finding,) = judged(TargetShift(), [fact()])
    assert (finding.severity, finding.kind, finding.exact) == ("warning", "targets_misaligned", False)
    assert finding.place.frame == line(14)
    assert finding.message == (
        "step 0, rank 0: the target of each position is the token 2 places on, made at train.py:14 -> train.py:30; "
        "expected the next one. Shift the targets by one."
    )


def test_a_model_that_shifts_its_labels_itself_is_to_get_them_unshifted():
    (finding,) = judged(TargetShift(), [fact(loss_of="GPT2LMHeadModel")])
    assert finding.message.endswith(
        "expected the next one. GPT2LMHeadModel shifts its labels itself: give it the tokens as they are."
    )
    assert finding.remedy[0] == "where the model shifts its labels itself, give it the tokens unshifted"


def test_other_trials_and_models_that_read_both_ways_are_silent():
    assert judged(TargetShift(), [fact("own_token"), fact(changed=False)]) == []
