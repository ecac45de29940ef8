"""What this rank holds of a sharded parameter is measured without another rank; names and owners follow the whole
parameter a forward uses."""

from __future__ import annotations

import pytest
import torch
import torch.distributed as dist
from torch import nn

from debugtracer.recorder.gate.norms import is_bad, total_l2
from debugtracer.recorder.measuring import measuring
from debugtracer.recorder.state.roots import Roots
from debugtracer.recorder.state.sharded import Locally, holds_shards, local, owners, shards


@pytest.fixture
def model():
    if dist.is_initialized():
        pytest.fail("another test has left its process group behind")
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    torch.manual_seed(0)
    made = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 2))
    fully_shard(made, mesh=init_device_mesh("cpu", (1,)))
    yield made
    dist.destroy_process_group()


def test_inside_a_sum_is_of_the_local_part_and_outside_it_is_not(model):
    parameter = model[0].weight
    assert holds_shards([model]) and not holds_shards([nn.Linear(2, 2)])
    with Locally():
        total = parameter.detach().sum()
        assert type(total) is torch.Tensor and parameter.grad is None and parameter.requires_grad
    assert type(parameter.detach().sum()) is not torch.Tensor
    assert local(parameter).shape == (6, 4) and local(3) == 3
    with measuring(True):
        assert type(parameter.detach().sum()) is torch.Tensor
    with measuring(False):
        assert type(parameter.detach().sum()) is not torch.Tensor


def test_the_canary_reads_local_parts(model):
    expected = torch.linalg.vector_norm(torch.cat([local(p).detach().flatten() for p in model.parameters()]))
    assert torch.allclose(total_l2(model.parameters()).float(), expected)
    assert not is_bad(model[0].weight)


def test_a_whole_parameter_of_the_forward_has_the_name_of_its_shard(model):
    roots = Roots()
    roots.add(model, None)
    model(torch.ones(3, 4)).sum().backward()
    model.reshard()
    found = {id(shard._unsharded_param): shard.sharded_param for shard in shards([model])}
    assert roots.sharded and {k: id(v) for k, v in owners([model]).items()} == {k: id(v) for k, v in found.items()}
    names = roots.named_parameters()
    assert sorted({names[key] for key in found}) == ["0.bias", "0.weight", "2.bias", "2.weight"]
    assert all(names[id(shard)] == names[key] for key, shard in found.items())
