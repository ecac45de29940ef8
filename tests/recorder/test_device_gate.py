"""Which optimizers skip a bad update on the device, and that they do."""

from __future__ import annotations

import pytest
import torch

from debugtracer.recorder.device_gate import gated, gates_itself


class Mine(torch.optim.AdamW):
    """Its step is not torch's own."""

    def step(self, closure=None):
        return super().step(closure)


def test_only_fused_steps_of_torch_gate_themselves() -> None:
    weights = [torch.zeros(2, requires_grad=True)]
    assert gates_itself(torch.optim.AdamW(weights, fused=True))
    assert not gates_itself(torch.optim.AdamW(weights))
    assert not gates_itself(Mine(weights, fused=True))


@pytest.mark.parametrize(("flag", "moves"), [(0.0, True), (1.0, False)])
def test_a_raised_flag_skips_the_update_and_leaves_nothing_behind(flag: float, moves: bool) -> None:
    weight = torch.zeros(2, requires_grad=True)
    weight.grad = torch.ones(2)
    optimizer = torch.optim.AdamW([weight], fused=True)
    with gated(optimizer, torch.tensor(flag)):
        optimizer.step()
    assert bool(weight.abs().sum() > 0) is moves
    assert not hasattr(optimizer, "found_inf") and not hasattr(optimizer, "grad_scale")
