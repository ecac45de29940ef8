"""Which change of the loop belongs to an episode."""

from __future__ import annotations

import dataclasses
import math

from debugtracer.spikes.episode import Episode
from debugtracer.spikes.loop_change import EARLY, is_redefined, loop_change, redefinition
from debugtracer.spikes.residual import Residual
from debugtracer.testing import a_window
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.loop_change import LoopChange
from debugtracer.trace.step import StepRef
from debugtracer.trace.window import Window

LINE = Frame("train.py", 7, "main")
AT = 100


def change(step: int = AT, **more: object) -> LoopChange:
    known = {"function": "copy_", "steps": 20, "frame": LINE, "ref": StepRef(iteration=step, step=step)}
    return LoopChange(**(known | more))  # type: ignore[arg-type]


def episode(*losses: float) -> Episode:
    """One that began at AT, where 1 was expected."""
    first = Residual(losses[0], math.log(losses[0]), 0.0, 0.1, 10 * math.log(losses[0]), 0.0, 0.0)
    found = Episode(StepRef(iteration=AT, step=AT), first, 6.0, sudden=True)
    for n, loss in enumerate(losses):
        found.push(loss, AT + n)
        found.settle()
    return found


def a_window_with(*facts: LoopChange) -> Window:
    return dataclasses.replace(a_window(loss=1.0), facts={LoopChange: facts})


SLOW, BRIEF = (9.0, 8.0, 7.0, 5.0, 4.0, 3.0, 2.5, *[1.0] * 20), (9.0, 9.0, *[1.0] * 20)


def test_a_write_near_the_beginning_comes_before_a_number():
    number, write = change(before=1.0, after=9.0), change(params=("w",))
    assert loop_change(a_window_with(number, write), episode(*SLOW)) == write
    assert loop_change(a_window_with(number), episode(*SLOW)) == number
    assert loop_change(a_window_with(change(AT - EARLY, params=("w",))), episode(*SLOW)) is not None
    assert loop_change(a_window_with(change(AT - EARLY - 1, params=("w",))), episode(*SLOW)) is None
    assert loop_change(a_window_with(change(AT + 20, params=("w",))), episode(*SLOW)) is None


def test_of_a_jump_that_is_over_at_once_only_a_number_as_large_is_told():
    assert episode(*BRIEF).abrupt
    assert loop_change(a_window_with(change(params=("w",))), episode(*BRIEF)) is None
    assert loop_change(a_window_with(change(before=1.0, after=2.0)), episode(*BRIEF)) is None
    assert loop_change(a_window_with(change(before=1.0, after=9.0)), episode(*BRIEF)) is not None
    assert loop_change(a_window_with(change(before=1.0, after=9.0, sudden=False)), episode(*BRIEF)) is None


def test_another_loss_is_told_where_it_stays_and_no_weight_was_written():
    own = change(of_loss=True, what="weights", function="cross_entropy")
    assert redefinition(a_window_with(own), episode(*SLOW)) == own
    assert redefinition(a_window_with(own), episode(*BRIEF)) is None
    assert redefinition(a_window_with(own, change(params=("w",))), episode(*SLOW)) is None
    assert redefinition(a_window_with(change(before=1.0, after=9.0)), episode(*SLOW)) is None
    assert redefinition(a_window_with(change(AT + 20, of_loss=True)), episode(*SLOW)) is None


def test_a_gradient_that_stands_out_where_the_loss_is_another():
    window = a_window_with(change(of_loss=True, before=1.0, after=9.0))
    assert is_redefined(window, AT + EARLY)
    assert not is_redefined(window, AT + EARLY + 1)
    assert not is_redefined(a_window_with(change(before=1.0, after=9.0)), AT)
