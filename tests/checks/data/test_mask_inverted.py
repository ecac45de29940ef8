"""Masks of labels the wrong way round."""

from __future__ import annotations

from debugtracer.checks.data.mask_inverted import MaskInverted
from debugtracer.trace.facts.inverted_mask import InvertedMask
from tests.checks.optimizer.seen import at, found, line


def judged(steps):
    return found(
        MaskInverted(),
        [
            InvertedMask(ref=at(step), mask=4, ignored=0.15, loss="cross_entropy", frame=line(70), made=line(36))
            for step in range(steps)
        ],
    )


def test_two_steps_are_needed_and_it_is_said_once():
    assert judged(1) == []
    (finding,) = judged(3)
    assert (finding.severity, finding.kind) == ("warning", "label_mask_wrong")
    assert (finding.place.frame, finding.place.symptom_frame) == (line(36), line(70))
    assert finding.message == (
        "step 1, rank 0: the targets of cross_entropy (train.py:70) are the tokens of the input wherever they count, "
        "and ignored where the input is id 4 (15 % of all); expected the opposite. Turn the mask of the labels round."
    )
