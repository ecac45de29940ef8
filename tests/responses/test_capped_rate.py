"""Rates above the cap are held at it for a while; those below it, and what the program sees, are its own."""

from __future__ import annotations

import pytest
import torch

from debugtracer.responses.capped_rate import CappedRate
from debugtracer.responses.lowered_rate import RAMP

LOW = 5


def test_a_rate_is_held_at_its_cap_for_a_while() -> None:
    first, second = (torch.zeros(1, requires_grad=True) for _ in range(2))
    optimizer = torch.optim.SGD([{"params": [first], "lr": 0.1}, {"params": [second], "lr": 1.0}], lr=0.1)
    CappedRate(optimizer, LOW, times=2.0)
    optimizer.param_groups[0]["lr"] = 5.0
    moved = []
    for _ in range(LOW + RAMP + 3):
        before = float(first.detach()), float(second.detach())
        first.grad, second.grad = torch.ones(1), torch.ones(1)
        optimizer.step()
        moved.append((before[0] - float(first.detach()), before[1] - float(second.detach())))
        assert [group["lr"] for group in optimizer.param_groups] == [5.0, 1.0]
    assert [one for one, _ in moved[:LOW]] == pytest.approx([0.2] * LOW, rel=1e-4)
    assert moved[LOW + RAMP // 2][0] == pytest.approx((0.2 + 5.0) / 2, rel=1e-3)
    assert [one for one, _ in moved[-3:]] == pytest.approx([5.0] * 3, rel=1e-3)
    assert [two for _, two in moved] == pytest.approx([1.0] * len(moved), rel=1e-4), "below its cap of 2"
    assert not optimizer._optimizer_step_pre_hooks and not optimizer._optimizer_step_post_hooks
