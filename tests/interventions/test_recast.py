"""Modules and optimizers in another dtype for a while."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from debugtracer.errors import ReplayRefused
from debugtracer.interventions.recast import autocast_off, default_dtype, moved_casts, recast
from tests.watching import same_bits

CPU = torch.device("cpu")


def test_memory_gradients_state_and_versions_come_back_also_after_an_error_and_a_first_step():
    model = nn.Linear(3, 2)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    model(torch.ones(4, 3)).sum().backward()
    weight, address, grad, version = (
        model.weight.detach().clone(),
        model.weight.data_ptr(),
        model.weight.grad,
        model.weight._version,
    )
    with pytest.raises(KeyError), recast([model], [optimizer], torch.float64, CPU):
        assert (model.weight.dtype, model.weight.grad) == (torch.float64, None)
        model(torch.ones(4, 3, dtype=torch.float64)).sum().backward()
        optimizer.step()
        raise KeyError
    assert same_bits(model.weight, weight)
    assert (model.weight.data_ptr(), model.weight.grad is grad, model.weight.dtype) == (address, True, torch.float32)
    assert dict(optimizer.state) == {}
    assert model.weight._version >= version
    optimizer.step()
    moments = optimizer.state[model.weight]["exp_avg"]
    with recast([model], [optimizer], torch.float64, None):
        assert optimizer.state[model.weight]["exp_avg"].dtype is torch.float64
    assert optimizer.state[model.weight]["exp_avg"] is moments


def test_only_the_dtypes_that_are_named_are_recast():
    model = nn.Sequential(nn.Linear(2, 2).half(), nn.BatchNorm1d(2))
    with recast([model], [], torch.float32, None, only=(torch.float16,)):
        assert {p.dtype for p in model.parameters()} == {torch.float32}
    assert [p.dtype for p in model.parameters()] == [torch.float16] * 2 + [torch.float32] * 2


def test_where_ranks_reduce_gradients_parameters_stay_as_they_are(tmp_path):
    torch.distributed.init_process_group("gloo", init_method=f"file://{tmp_path}/meeting", rank=0, world_size=1)
    try:
        with (
            pytest.raises(ReplayRefused, match="the ranks reduce gradients by hooks"),
            recast([nn.Linear(2, 2)], [], torch.float64, None),
        ):
            pass
    finally:
        torch.distributed.destroy_process_group()


def test_casts_and_autocast_inside_are_off_and_on_again():
    x = torch.ones(2, 2)

    def products() -> list[torch.dtype]:
        with torch.autocast("cpu", torch.bfloat16):
            return [
                (x @ x).dtype,
                x.half().dtype,
                x.to(torch.float16).dtype,
                x.to(dtype=torch.bfloat16).dtype,
                x.float().dtype,
                torch.zeros(1, dtype=torch.half).dtype,
            ]

    plain = [torch.bfloat16, torch.float16, torch.float16, torch.bfloat16, torch.float32, torch.float16]
    assert products() == plain
    with autocast_off([]):
        assert products() == [torch.float32] * 6
    with moved_casts([], torch.float64, CPU), default_dtype(torch.float64):
        assert products() == [torch.float32, *[torch.float64] * 5]
        assert (torch.zeros(1).dtype, x.to("cpu").dtype, x.view(dtype=torch.int32).dtype) == (
            torch.float64,
            torch.float32,
            torch.int32,
        )
    assert products() == plain


@pytest.mark.parametrize("reentrant", [True, False])
def test_casts_inside_are_off_where_a_checkpoint_computes_again(reentrant):
    seen = []

    class Half(nn.Module):
        def forward(self, x):
            half = x.half()
            seen.append(half.dtype)
            return half.float().square()

    model = nn.Sequential(Half())
    with autocast_off([model]):
        x = torch.ones(2, requires_grad=True)
        torch.autograd.backward([checkpoint(model, x, use_reentrant=reentrant).sum()])
    assert seen == [torch.float32] * 2
    assert "forward" not in model[0].__dict__


def test_a_context_that_the_program_keeps_works_again_after_it_was_entered_inside():
    """A decorated forward enters one and the same context for ever."""
    kept = torch.autocast("cpu", dtype=torch.bfloat16)

    @kept
    def forward(x):
        return (x @ x).dtype

    assert forward(torch.ones(2, 2)) is torch.bfloat16
    with autocast_off([]):
        assert forward(torch.ones(2, 2)) is torch.float32
    assert forward(torch.ones(2, 2)) is torch.bfloat16
