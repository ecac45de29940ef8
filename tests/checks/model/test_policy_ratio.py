"""Ratios of a policy that are not 1."""

from __future__ import annotations

import pytest

from debugtracer.checks.model.policy_ratio import PolicyRatio
from debugtracer.trace.facts.policy_ratio import PolicyRatio as Ratio
from tests.checks.optimizer.seen import at, found, line


def judged(off, **more):
    fact = Ratio(
        ref=at(0), frame=line(53), call_frame=line(52), old_frame=line(37), compared=96, off=off, low=0.83, high=1.24,
        **more,
    )  # fmt: skip
    return found(PolicyRatio(), [fact])


def test_it_says_what_was_seen_and_what_to_do():
    (finding,) = judged(70, drawn=True)
    assert (finding.severity, finding.kind) == ("warning", "rollout_mismatch")
    assert (finding.place.frame, finding.place.symptom_frame) == (line(52), line(53))
    assert finding.message == (
        "step 0, rank 0: 70 of 96 ratios of new to old probabilities (train.py:53) are not 1 (0.83 to 1.24), though no "
        "weight has changed since the old ones were computed (train.py:37); expected 1. The actions were drawn anew: "
        "give the stored ones to the policy (train.py:52)."
    )


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"noise": "dropout"}, "dropout changes what the policy says from call to call"),
        ({"rows": 8, "same": 1, "shown": 20}, "1 of 8 looked up with their own"),
        ({"rows": 8}, "None of the observations given now"),
        ({"rows": 8, "same": 8, "shown": 8}, "the actions are not those taken"),
        ({}, "Give the policy the observations and actions"),
    ],
)
def test_what_differs_is_told(more, words):
    assert words in judged(70, **more)[0].message


def test_at_the_threshold():
    assert judged(9) == []
    assert len(judged(10)) == 1
