"""Which optimizers skip a bad update on the device, and that they do."""

from __future__ import annotations

import pytest
import torch

from debugtracer.recorder.gate.device_gate import bad_flag, gated, gates_itself


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


@pytest.mark.parametrize(
    ("gradient", "loss", "norm", "bad"),
    [
        (1.0, 2.0, 1.0, 0.0),
        (float("nan"), 2.0, float("nan"), 1.0),
        (1.0, float("inf"), 1.0, 1.0),
        (3e38, 2.0, float("inf"), 0.0),  # only the norm overflowed
    ],
)
def test_the_flag_is_raised_by_a_bad_number_alone(gradient: float, loss: float, norm: float, bad: float) -> None:
    flag = bad_flag([torch.tensor([1.0, gradient])], [torch.tensor(loss).double()], torch.tensor(norm))
    assert flag.shape == ()
    assert flag.item() == bad
