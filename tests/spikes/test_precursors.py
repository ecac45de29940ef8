"""What is held until a jump of the loss follows it."""

from __future__ import annotations

from debugtracer.spikes.monitor import monitor
from debugtracer.spikes.precursors import FOLLOW_STEPS, FOLLOWED, Precursors
from debugtracer.trace.finding import Finding
from debugtracer.trace.step import StepRef
from debugtracer.trace.window import Window


def a_finding(step):
    return Finding(
        check="optimizer/second-moment-lag",
        layer="optimizer",
        severity="note",
        step=step,
        iteration=step,
        rank=0,
        message=f"step {step}: seen. {FOLLOWED}: act.",
    )


def said(held, step, jumps):
    window = Window(StepRef(iteration=step, step=step), memories={})
    monitor(window).jumps.extend(jumps)
    return [f.message for f in held.followed(window)]


def test_what_a_jump_follows_within_eight_steps_is_told_once_with_its_step():
    held = Precursors()
    held.hold(a_finding(100))
    assert said(held, 101, []) == []
    assert said(held, 110, [100 + FOLLOW_STEPS]) == ["step 100: seen. The loss jumped at step 108: act."]
    assert said(held, 111, [100 + FOLLOW_STEPS]) == []


def test_what_no_jump_follows_is_forgotten():
    held = Precursors()
    held.hold(a_finding(100))
    assert said(held, 200, [99, 100 + FOLLOW_STEPS + 1]) == []
    assert held.held == []
