"""A forecast that begins before its input ends."""

from __future__ import annotations

from debugtracer.checks.data.target_overlap import TargetOverlap
from debugtracer.trace.facts.function_test import FunctionTest
from tests.checks.facts_at import judged, line, ref


def fact(trial="target_window", changed=True, position=42, common=6):
    made = (line(21),)
    return FunctionTest(
        ref=ref(), trial=trial, root="Net", changed=changed, position=position, common=common, length=12, made=made,
        frame=line(39),
    )  # fmt: skip


def test_the_line_that_cuts_the_target_is_the_one_to_edit():
    (finding,) = judged(TargetOverlap(), [fact()])
    assert (finding.severity, finding.kind, finding.exact) == ("error", "label_leak", True)
    assert (finding.place.frame, finding.place.symptom_frame) == (line(21), line(39))
    assert finding.message == (
        "step 0, rank 0: 6 of 12 positions of the target are positions 42 to 47 of the input, made at train.py:21, and "
        "the output depends on them; expected a target that begins after them. Begin it where the input ends."
    )


def test_one_position_is_one():
    (finding,) = judged(TargetOverlap(), [fact(position=47, common=1)])
    assert "1 of 12 positions of the target are position 47 of the input" in finding.message


def test_a_model_that_does_not_see_them_and_other_trials_are_silent():
    assert judged(TargetOverlap(), [fact(changed=False), fact("own_token")]) == []


def test_a_decoder_that_is_given_the_answer_is_told_by_its_argument():
    one = FunctionTest(
        ref=ref(), trial="target_window", root="Informer", changed=True, position=24, common=12, length=12,
        argument="x_dec", made=(line(12),), frame=line(33),
    )  # fmt: skip
    (finding,) = judged(TargetOverlap(), [one])
    assert finding.place.frame == line(12)
    assert "torch.zeros_like" in finding.remedy[0]
    assert finding.message == (
        "step 0, rank 0: 12 of 12 positions of the target are positions 24 to 35 of the argument x_dec of Informer, "
        "made at train.py:12, and the output there depends on them; expected zeros in their place. Give it the known "
        "values before them alone."
    )


def test_a_trial_without_a_position_is_silent_and_the_first_position_is_0():
    assert judged(TargetOverlap(), [fact(position=None)]) == []
    (finding,) = judged(TargetOverlap(), [fact(position=0, common=2)])
    assert "2 of 12 positions of the target are positions 0 to 1 of the input" in finding.message
    assert finding.remedy == () or "torch.zeros_like" not in finding.remedy[0]
