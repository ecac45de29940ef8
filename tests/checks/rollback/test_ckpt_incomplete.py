"""A checkpoint from which training could not go on."""

from __future__ import annotations

import pytest

from debugtracer.checks.rollback.ckpt_incomplete import CkptIncomplete
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.checkpoint import CheckpointSaved
from tests.checks.crashes import REF, told


def saved(parts, live=("optimizer", "scheduler"), counter=240, line=56, **more):
    return CheckpointSaved(ref=REF, parts=parts, live=live, counter=counter, frame=Frame("/p/train.py", line), **more)


def test_what_is_in_use_and_not_in_the_file_is_a_note():
    (finding,) = told(CkptIncomplete(), saved(("counter", "weights")))
    assert finding.message == (
        "step 5, rank 0: the checkpoint saved here (train.py:56) holds counter, weights and not the state of "
        "optimizer, scheduler; expected them too. "
        "Add their state_dict()."
    )
    assert finding.severity == "note"


@pytest.mark.parametrize(
    "fact",
    [
        saved(("counter", "optimizer", "scheduler", "weights")),
        saved(("weights",), counter=None),
        saved(("counter", "weights"), weights_only=True),
    ],
    ids=["whole", "an export", "save_weights_only"],
)
def test_a_whole_file_and_an_export_of_weights_are_silent(fact):
    assert told(CkptIncomplete(), fact) == []


def test_what_is_absent_is_told_once_whatever_line_saves():
    """The best weights and the last ones: one word to the person who would resume from either."""
    lines = [saved(("counter", "weights"), line=line) for line in (56, 56, 71)]
    found = told(CkptIncomplete(), *lines, saved(("counter", "optimizer", "weights"), line=80))
    assert [finding.place.frame.line for finding in found] == [56, 80]
