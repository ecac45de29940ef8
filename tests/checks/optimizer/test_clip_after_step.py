"""Clipping where there is nothing to clip."""

from __future__ import annotations

from debugtracer.checks.optimizer.clip_after_step import ClipAfterStep
from debugtracer.trace.facts.clipping import ClippedNothing
from debugtracer.trace.step import StepRef
from tests.checks.optimizer.seen import call, found, line, order

LATE = (call("clip", 24, limit=1.0), call("zero_grad"), call("backward", live=True))


def test_it_names_the_clip_of_two_updates_running():
    (finding,) = found(ClipAfterStep(), [order(0, call("backward", live=True)), order(1, *LATE), order(2, *LATE)])
    assert finding.message == (
        "step 1, rank 0: clip (train.py:24) comes when no fresh gradient is there in two updates running, so it clips "
        "nothing; expected it between backward "
        "and step. Move it before optimizer.step()."
    )
    assert (finding.kind, finding.place.frame) == ("clip_misplaced", line(24))


def test_a_limit_that_only_measures_is_healthy():
    measured = (call("clip", 24, limit="Infinity"), call("backward", live=True))
    assert found(ClipAfterStep(), [order(n, *measured) for n in range(4)]) == []


def test_a_second_clip_in_the_right_place_is_enough():
    both = (*LATE, call("clip", 30, limit=1.0, live=True))
    assert found(ClipAfterStep(), [order(n, *both) for n in range(4)]) == []


def test_a_clip_of_a_loop_without_an_optimizer_that_found_nothing():
    clip = ClippedNothing(ref=StepRef(iteration=1, step=1), frame=line(24), limit=0.5)
    (finding,) = found(ClipAfterStep(), [clip])
    assert "clip (train.py:24) comes after zero_grad and before the backward" in finding.message
    assert finding.place.frame == line(24)
    assert found(ClipAfterStep(), [ClippedNothing(ref=clip.ref, frame=line(24), limit=1e6)]) == []
