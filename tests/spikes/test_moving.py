"""Losses that chase a target that training itself moves."""

from __future__ import annotations

import pytest

from debugtracer.spikes.level import Level
from debugtracer.spikes.moving import exploded, goes_back, moving
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.order import Call, StepOrder
from debugtracer.trace.facts.schedule import Rate
from debugtracer.trace.facts.turns_taken import TurnsTaken
from debugtracer.trace.facts.wiring import Wiring
from debugtracer.trace.window import Window
from tests.spikes.series import ref


def backward(line):
    return Call(word="backward", frame=Frame("/p/train.py", line, "main", "loss.backward()"), live=True)


def order(optimizer, *calls):
    return StepOrder(ref=ref(1), optimizer=optimizer, kind="Adam", number=1, calls=calls)


ZERO = Call(word="zero_grad")


@pytest.mark.parametrize(
    ("orders", "said"),
    [
        # a GAN: the loss of G writes gradients of D too
        ((order(0, backward(9), ZERO, backward(5)), order(1, ZERO, backward(9))), True),
        ((order(0, ZERO, backward(5)), order(1, ZERO, backward(5))), False),  # Muon beside AdamW
        ((order(0, backward(5), ZERO), order(1, ZERO, backward(5))), False),  # one clears after, the other before
        ((order(0, ZERO, backward(5)),), False),
    ],
)
def test_several_optimizers_are_players_when_their_losses_differ(orders, said):
    assert bool(moving(Window(ref=ref(1), facts={StepOrder: orders}))) is said


def test_a_copy_that_follows():
    assert "target network" in moving(
        Window(ref=ref(1), facts={Wiring: [Wiring(ref=ref(1), params=(), optimizers=(), follower=True)]})
    )


@pytest.mark.parametrize(("times", "said"), [(90.0, False), (110.0, True)])
def test_a_gradient_norm_that_rose_by_orders_and_stays(times, said):
    level = Level()
    for norm in [1.0] * 64 + [times] * 16:
        level.push(norm)
    assert exploded(level) is said
    for _ in range(16):
        level.push(1.0)
    assert not exploded(level)


def test_optimizers_that_take_turns_are_players():
    turn = TurnsTaken(ref=ref(1), optimizer="Adam", other="SGD")
    assert "several optimizers" in moving(Window(ref=ref(1), facts={TurnsTaken: [turn]}))


def a_rate(optimizer, iteration, high):
    return Rate(ref=ref(iteration), optimizer=optimizer, kind="Adam", frame=None, low=high, high=high)


def test_the_rate_of_an_optimizer_that_stepped_before_comes_back():
    window = Window(ref=ref(9), facts={Rate: [a_rate(0, 1, 0.01), a_rate(1, 5, 0.002)]})
    assert goes_back(window, 0.002, 0.01)
    assert not goes_back(window, 0.01, 0.002)  # the first update of the second
    assert not goes_back(window, 0.002, 0.003)  # a schedule
    assert not goes_back(Window(ref=ref(9), facts={Rate: [a_rate(0, 1, 0.01)]}), 0.002, 0.01)
    alike = Window(ref=ref(9), facts={Rate: [a_rate(0, 1, 0.01), a_rate(1, 5, 0.01)]})
    assert not goes_back(alike, 0.002, 0.01)
