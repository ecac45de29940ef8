"""What a call of step carries: whose closure runs when, and the settings kept of its groups."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from debugtracer.recorder.gate.step_call import MOST_GROUPS, decides_itself, settings, with_closure


def groups(number: int, lr: Any) -> torch.optim.Optimizer:
    return torch.optim.AdamW(
        [{"params": [nn.Parameter(torch.zeros(1))]} for _ in range(number)], lr=lr, weight_decay=0.02
    )


def test_every_setting_of_each_group_but_its_parameters() -> None:
    (kept,) = settings(groups(1, 0.1))
    assert kept["lr"] == 0.1
    assert kept["weight_decay"] == 0.02
    assert kept["betas"] == (0.9, 0.999)
    assert "params" not in kept


def test_very_many_groups_keep_their_rates_alone() -> None:
    kept = settings(groups(MOST_GROUPS + 1, 0.1))
    assert kept == [{"lr": 0.1}] * (MOST_GROUPS + 1)


@pytest.mark.parametrize("number", [1, MOST_GROUPS + 1])
def test_a_rate_that_is_a_tensor_is_kept_as_it_was(number: int) -> None:
    optimizer = groups(number, torch.tensor(0.1))
    kept = settings(optimizer)
    for group in optimizer.param_groups:
        group["lr"].fill_(7.0)
    assert all(k["lr"].item() == pytest.approx(0.1) for k in kept)


def test_only_optimizers_with_a_step_of_torch_s_own_leave_their_closure_to_us() -> None:
    class Mine(torch.optim.SGD):
        def step(self, closure: Any = None) -> None:  # type: ignore[override]
            super().step(closure)

    p = [nn.Parameter(torch.ones(1))]
    assert decides_itself(torch.optim.LBFGS(p))
    assert decides_itself(Mine(p))
    assert not decides_itself(torch.optim.AdamW(p))


def test_a_closure_is_replaced_where_it_was_given() -> None:
    def new() -> None: ...

    assert with_closure(new, (1, 2), {}) == ((new, 2), {})
    assert with_closure(new, (), {"closure": 1, "x": 2}) == ((), {"closure": new, "x": 2})
