"""What a rank writes down of its weights. Two ranks are in faults/device/hand_averaged."""

from __future__ import annotations

import pytest
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from debugtracer.observers.device import rank_weights
from debugtracer.observers.device.rank_weights import collectives, norms
from debugtracer.trace.facts.rank_weights import RankWeights
from tests.observers.observing import fit, observed

BATCHES = [(torch.randn(4, 3), torch.arange(4) % 2)] * 4


@pytest.fixture
def group(tmp_path):
    dist.init_process_group("gloo", init_method=f"file://{tmp_path}/store", rank=0, world_size=1)
    yield
    dist.destroy_process_group()


def test_one_process_tells_nothing(group, tmp_path):
    assert observed(tmp_path / "runs", lambda: fit(BATCHES), RankWeights) == []


def test_the_first_steps_with_checksums_and_norms(group, tmp_path, monkeypatch):
    monkeypatch.setattr(rank_weights.dist, "get_world_size", lambda: 2)
    first, second, _ = observed(tmp_path / "runs", lambda: fit(BATCHES), RankWeights)
    assert (first.number, first.names, first.ref.step, second.ref.step) == (0, ("weight", "bias"), 0, 1)
    assert first.before != second.before
    assert all(norm > 0 for norm in first.grads_l2)
    assert first.collectives == second.collectives == 0


def test_collectives_are_counted_over_all_groups(group):
    dist.all_reduce(torch.ones(2))
    dist.all_reduce(torch.ones(2), group=dist.new_group([0]))
    assert collectives() == 2


def test_what_is_exchanged_is_counted_with_its_size(group, tmp_path, monkeypatch):
    monkeypatch.setattr(rank_weights.dist, "get_world_size", lambda: 2)

    def loop():
        dist.all_reduce(torch.ones(3))
        fit(BATCHES)
        dist.barrier()

    first, second, _ = observed(tmp_path / "runs", loop, RankWeights)
    assert (first.collectives, first.calls, first.elements, first.held) == (1, 1, 3, 8)
    assert (second.calls, second.unreached) == (1, None)


def test_a_wrapped_model_is_left_to_the_other_check(group, tmp_path, monkeypatch):
    monkeypatch.setattr(rank_weights.dist, "get_world_size", lambda: 2)
    loop = lambda: fit(BATCHES, DistributedDataParallel(nn.Linear(3, 2)))  # noqa: E731
    assert observed(tmp_path / "runs", loop, RankWeights) == []


def test_no_gradient_and_a_bad_one_have_no_norm():
    bare, bad = nn.Parameter(torch.ones(2)), nn.Parameter(torch.ones(2))
    bad.grad = torch.tensor([1.0, float("inf")])
    assert norms([bare, bad]) == (-1.0, -1.0)
