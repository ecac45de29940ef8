"""Smaller updates for a while, of which the program's own rates see nothing."""

from __future__ import annotations

import pytest
import torch

from debugtracer.responses.lowered_rate import FACTOR, LOW, RAMP, LoweredRate


def test_updates_are_smaller_for_a_while_and_come_back() -> None:
    weight = torch.zeros(1, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=0.1)
    LoweredRate(optimizer)
    moved = []
    for _ in range(LOW + RAMP + 5):
        weight.grad = torch.ones(1)
        before = float(weight.detach())
        optimizer.step()
        moved.append((before - float(weight.detach())) / 0.1)
        assert optimizer.param_groups[0]["lr"] == 0.1
    assert moved[:LOW] == pytest.approx([FACTOR] * LOW, abs=1e-4)
    assert moved[LOW + RAMP // 2] == pytest.approx((1 + FACTOR) / 2, abs=0.02)
    assert moved[LOW + RAMP :] == pytest.approx([1.0] * 5, abs=1e-4)
    assert not optimizer._optimizer_step_pre_hooks and not optimizer._optimizer_step_post_hooks


def test_it_can_be_ended_before() -> None:
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.1)
    lowered = LoweredRate(optimizer)
    lowered.end()
    assert not optimizer._optimizer_step_pre_hooks


def test_a_step_that_raises_leaves_the_rates_of_the_program_for_the_next() -> None:
    weight = torch.zeros(1, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=0.1)
    LoweredRate(optimizer)

    def closure() -> float:
        raise KeyError("of the program's own")

    with pytest.raises(KeyError):
        optimizer.step(closure)
    weight.grad = torch.ones(1)
    optimizer.step()
    assert optimizer.param_groups[0]["lr"] == 0.1
    assert float(weight.detach()) == pytest.approx(-FACTOR * 0.1)
