"""Sharded modules made whole: the same numbers without another rank, and afterwards everything as before; what cannot
be put together is refused."""

from __future__ import annotations

import pytest
import torch
import torch.distributed as dist
from torch import nn

from debugtracer.errors import ReplayRefused
from debugtracer.recorder.state.sharded import is_sharded
from debugtracer.replay.unsharded_weights import UnshardedWeights, of_fsdp


@pytest.fixture
def group():
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    yield
    dist.destroy_process_group()


def made(**policy):
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

    torch.manual_seed(0)
    plain = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 2))
    sharded = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 2))
    sharded.load_state_dict(plain.state_dict())
    mesh = init_device_mesh("cpu", (1,))
    fully_shard(sharded[2], mesh=mesh, mp_policy=MixedPrecisionPolicy(**policy))
    fully_shard(sharded, mesh=mesh)
    return plain, sharded


def test_inside_it_computes_alone_and_outside_it_is_sharded_again(group):
    plain, sharded = made()
    before = [dict(m._forward_pre_hooks) for m in sharded.modules()], [id(p) for p in sharded.parameters()]
    whole = UnshardedWeights([sharded], 2**20)
    x = torch.randn(3, 4)
    with whole.entered():
        assert not any(is_sharded(p) for p in sharded.parameters())
        assert not any(
            of_fsdp(hook)
            for m in sharded.modules()
            for hook in (*m._forward_pre_hooks.values(), *m._forward_hooks.values())
        )
        out = sharded(x)
        out.sum().backward()
        assert torch.equal(out, plain(x))
    plain(x).sum().backward()
    assert ([dict(m._forward_pre_hooks) for m in sharded.modules()], [id(p) for p in sharded.parameters()]) == before
    for shard, reference in zip(sharded.parameters(), plain.parameters(), strict=True):
        twin = whole.parameter(shard)
        assert shard.grad is None and torch.equal(twin, reference) and torch.allclose(twin.grad, reference.grad)
    assert whole.parameter(reference) is reference
    assert torch.equal(sharded(x), plain(x))


def test_a_mixed_precision_policy_is_followed(group):
    _, sharded = made(param_dtype=torch.bfloat16)
    x = torch.randn(3, 4)
    expected = sharded(x)
    sharded.reshard()
    with UnshardedWeights([sharded], 2**20).entered():
        assert sharded[2].weight.dtype is torch.bfloat16
        assert torch.equal(sharded(x), expected)


def test_too_large_and_otherwise_split_weights_are_refused(group):
    from torch.distributed.tensor import Replicate, distribute_tensor

    _, sharded = made()
    with pytest.raises(ReplayRefused, match="the whole weights need 176 bytes on each rank, more than copy_bytes"):
        UnshardedWeights([sharded], 100)
    split = nn.Linear(4, 6)
    split.weight = nn.Parameter(distribute_tensor(split.weight.detach(), sharded[2].weight.device_mesh, [Replicate()]))
    with pytest.raises(ReplayRefused, match="split by more than FSDP2"):
        UnshardedWeights([split], 2**20)
