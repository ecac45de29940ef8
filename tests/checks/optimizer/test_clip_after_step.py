"""Clipping where there is nothing to clip."""

from __future__ import annotations

from debugtracer.checks.optimizer.clip_after_step import ClipAfterStep
from debugtracer.trace.facts.own_clip import OwnClip
from tests.checks.optimizer.seen import at, call, found, line, order

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


def by_hand(number, why="none", limit=0.25):
    return OwnClip(ref=at(number), frame=line(34), limit=limit, why=why, number=number)


def test_a_loop_without_an_optimizer_is_told_at_its_second_clip():
    (finding,) = found(ClipAfterStep(), [by_hand(n) for n in (1, 2, 3)])
    assert (finding.kind, finding.step, finding.place.frame) == ("clip_misplaced", 2, line(34))
    assert finding.message == (
        "step 2, rank 0: clip (train.py:34) meets no gradient in two updates running, so it clips nothing; expected it "
        "between backward and the update. Move it behind loss.backward()."
    )


def test_a_used_gradient_is_said_and_a_measuring_clip_is_left_alone():
    (finding,) = found(ClipAfterStep(), [by_hand(n, why="used") for n in (1, 2)])
    assert "meets gradients that the weights were written with before" in finding.message
    assert found(ClipAfterStep(), [by_hand(n, limit=1e6) for n in (1, 2)]) == []
