"""Is the target of a language model the next token?"""

from __future__ import annotations

from debugtracer.checks.model.target_shift import TargetShift
from debugtracer.trace.facts.function_test import FunctionTest
from tests.checks.facts_at import judged, line, ref


def fact(trial="shifted_token", changed=True):
    return FunctionTest(ref=ref(), trial=trial, root="Writer", changed=changed, position=2, made=(line(14), line(30)))


def test_a_token_further_on_is_told_where_the_targets_are_made():
    (finding,) = judged(TargetShift(), [fact()])
    assert (finding.severity, finding.kind, finding.exact) == ("warning", "targets_misaligned", False)
    assert finding.place.frame == line(14)
    assert finding.message == (
        "step 0, rank 0: the target of each position is the token 2 places on, made at train.py:14 -> train.py:30; "
        "expected the next one. Shift the targets by one."
    )


def test_other_trials_and_models_that_read_both_ways_are_silent():
    assert judged(TargetShift(), [fact("own_token"), fact(changed=False)]) == []
