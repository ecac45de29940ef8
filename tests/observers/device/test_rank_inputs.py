"""Inputs of ranks without a loader: a process alone writes none. Two ranks are in tests/end_to_end/test_ranks.py."""

from __future__ import annotations

import torch
import torch.distributed as dist

from debugtracer.trace.facts.batches import BatchSeen
from tests.observers.observing import fit, observed

BATCHES = [(torch.randn(4, 3), torch.arange(4) % 2)] * 3


def test_a_process_alone_writes_nothing(tmp_path):
    assert observed(tmp_path / "plain", lambda: fit(BATCHES), BatchSeen) == []
    dist.init_process_group("gloo", init_method=f"file://{tmp_path}/store", rank=0, world_size=1)
    try:
        assert observed(tmp_path / "group", lambda: fit(BATCHES), BatchSeen) == []
    finally:
        dist.destroy_process_group()


def test_two_ranks_write_the_arguments_of_the_first_iterations(tmp_path, monkeypatch):
    dist.init_process_group("gloo", init_method=f"file://{tmp_path}/store", rank=0, world_size=1)
    monkeypatch.setattr(dist, "get_world_size", lambda group=None: 2)
    try:
        found = observed(tmp_path / "group", lambda: fit(BATCHES * 4), BatchSeen)
    finally:
        dist.destroy_process_group()
    assert [(f.ref.iteration, f.loader, f.rows) for f in found] == [(n, None, 4) for n in range(8)]
    assert len({f.digests for f in found}) == 1
