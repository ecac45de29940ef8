"""Binary losses that ask for one answer."""

from __future__ import annotations

from debugtracer.checks.model.one_answer import OneAnswer
from debugtracer.trace.facts.single_target import SingleTarget
from tests.checks.optimizer.seen import at, found, line


def judged(*looks, ended=True):
    return found(
        OneAnswer(),
        [
            SingleTarget(
                ref=at(step), param="judge.bias", loss="binary_cross_entropy", calls=2, places=places, asked=asked,
                frame=line(174), made=line(171),
            )
            for step, (asked, places) in enumerate(looks)
        ],
        ended,
    )  # fmt: skip


def test_one_answer_in_all_looks_is_said_at_the_end():
    assert judged((1.0, 2), (1.0, 2), ended=False) == []
    (finding,) = judged((1.0, 2), (1.0, 2))
    assert (finding.severity, finding.kind) == ("warning", "target_unrelated")
    assert (finding.place.frame, finding.place.symptom_frame) == (line(171), line(174))
    assert finding.message == (
        "step 0, rank 0: the 2 calls of binary_cross_entropy (train.py:174) that train judge.bias all ask for 1, in 2 "
        "of 2 steps looked at; expected 1 for one kind of input and 0 for the other. Look at where the targets are "
        "made."
    )


def test_another_answer_or_a_single_call_is_silent():
    assert judged((1.0, 2), (0.0, 2)) == []
    assert judged((1.0, 2), (None, 2)) == []
    assert judged((1.0, 1), (1.0, 1)) == []
    assert judged() == []
