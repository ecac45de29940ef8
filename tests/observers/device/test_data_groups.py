"""Groups of ranks that average gradients, with one process. Two ranks are in tests/end_to_end/test_ranks.py."""

from __future__ import annotations

import pytest
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

from debugtracer.observers.device import data_groups
from debugtracer.observers.device.data_groups import root_of, sharded
from debugtracer.trace.facts.data_group import DataGroup
from tests.observers.observing import fit, observed


@pytest.fixture
def group(tmp_path):
    dist.init_process_group("gloo", init_method=f"file://{tmp_path}/store", rank=0, world_size=1)
    yield
    dist.destroy_process_group()


class Summed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        dist.all_reduce(x := x.clone())
        return x

    @staticmethod
    def backward(ctx, grad):
        dist.all_reduce(grad := grad.clone())
        return grad


class TensorParallel(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 2)

    def forward(self, x):
        return Summed.apply(self.layer(x))


def test_a_model_that_is_sharded_over_all_ranks_is_known_by_its_mesh(group):
    model = nn.Sequential(nn.Linear(3, 2), nn.Linear(2, 2))
    assert sharded(model) == set()
    fully_shard(model, mesh=init_device_mesh("cpu", (1,)))
    assert sharded(model) == {("fully_shard", (0,))}


def test_a_mesh_that_is_cut_from_one_of_two_dimensions_says_nothing(group):
    mesh = init_device_mesh("cpu", (1, 1), mesh_dim_names=("shard", "context"))
    model = nn.Linear(3, 2)
    fully_shard(model, mesh=mesh["shard"])
    assert root_of(mesh["shard"]).ndim == 2
    assert sharded(model) == set()


def test_one_process_tells_nothing_and_the_function_is_put_back(group, tmp_path):
    def loop():
        fit([(torch.randn(4, 3), torch.arange(4) % 2)] * 3)
        dist.all_reduce(torch.ones(3))

    assert observed(tmp_path / "runs", loop, DataGroup) == []
    assert dist.all_reduce.__module__ == "torch.distributed.distributed_c10d"
    assert not hasattr(dist.all_reduce, "__closure__") or "DataGroups" not in str(dist.all_reduce.__closure__)


def test_what_is_reduced_in_a_forward_or_of_an_activation_is_no_gradient(group, tmp_path, monkeypatch):
    monkeypatch.setattr(data_groups.dist, "get_world_size", lambda: 2)
    monkeypatch.setattr(data_groups.dist, "get_process_group_ranks", lambda group: (0, 1))

    def trained(of_gradients):
        model = TensorParallel()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for x, y in [(torch.randn(40, 3), torch.arange(40) % 2)] * 2:
            nn.functional.cross_entropy(model(x), y).backward()
            for p in model.parameters() if of_gradients else ():
                dist.all_reduce(p.grad)
            optimizer.step()

    assert observed(tmp_path / "activations", lambda: trained(False), DataGroup) == []
    (found, *_) = observed(tmp_path / "gradients", lambda: trained(True), DataGroup)
    assert (found.how, found.group, found.at.code) == ("all_reduce", (0, 1), "dist.all_reduce(p.grad)")
