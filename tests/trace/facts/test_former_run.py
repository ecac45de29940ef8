"""What a former run recorded, as values."""

from __future__ import annotations

from debugtracer.trace.facts.checkpoint import CheckpointMark
from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.former_run import FormerRun
from tests.checks.optimizer.seen import at


def test_they_survive_the_disk():
    former = FormerRun(ref=at(3), run="monday", step=40, start=3, losses=((39, 0.5), (40, 0.4)), same_program=True)
    mark = CheckpointMark(ref=at(40), slot=7, tensors=4, total="NaN", parts=("weights",))
    assert from_plain("former-run/FormerRun", to_plain(former)) == former
    assert from_plain("checkpoint/CheckpointMark", to_plain(mark)) == mark
    assert (former.key(), mark.key()) == (("monday", 3), 7)
