"""Targets that are drawn."""

from __future__ import annotations

from debugtracer.checks.data.target_drawn import TargetDrawn
from debugtracer.trace.facts.drawn_target import DrawnTarget
from tests.checks.optimizer.seen import at, found, line


def judged(steps):
    return found(
        TargetDrawn(),
        [
            DrawnTarget(ref=at(s), draw="randn_like", frame=line(33), loss="sub", loss_frame=line(56))
            for s in range(steps)
        ],
    )


def test_two_steps_are_needed_and_it_is_said_once():
    assert judged(1) == []
    (finding,) = judged(3)
    assert (finding.severity, finding.kind, finding.place.frame) == ("warning", "target_unrelated", line(33))
    assert finding.message == (
        "step 1, rank 0: the target of sub (train.py:56) is drawn by randn_like (train.py:33) in each step and nothing "
        "else uses the draw; expected a target that belongs to the input. Use the noise that the input was made with."
    )
