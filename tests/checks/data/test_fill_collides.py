"""Class ids that are the index of no object."""

from __future__ import annotations

from debugtracer.checks.data.fill_collides import FillCollides
from debugtracer.trace.facts.filled_target import FilledTarget
from tests.checks.facts_at import judged, line, ref


def fact(step, same=15):
    return FilledTarget(
        ref=ref(step), fill=3, classes=4, filled=114, written=46, same=same, loss="cross_entropy", frame=line(84),
        loss_frame=line(86),
    )  # fmt: skip


def test_the_line_that_fills_the_labels_is_told_once():
    (finding,) = judged(FillCollides(), [fact(step) for step in range(4)])
    assert (finding.severity, finding.kind) == ("warning", "loss_misuse")
    assert (finding.place.frame, finding.place.symptom_frame) == (line(84), line(86))
    assert finding.message == (
        "step 1, rank 0: cross_entropy (train.py:86) gets labels filled with 3 (train.py:84), and 15 of 46 written "
        "ones are 3, too, beside 114 that were left; expected an index of its own for what is left. Make it the "
        "largest id + 1."
    )


def test_one_step_and_labels_that_never_meet_are_silent():
    assert judged(FillCollides(), [fact(0), fact(0)]) == []
    assert judged(FillCollides(), [fact(step, same=0) for step in range(4)]) == []
