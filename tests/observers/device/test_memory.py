"""Samples of memory."""

from __future__ import annotations

import torch
from torch.utils.data import DataLoader, TensorDataset

from debugtracer.observers.device.memory import resident
from debugtracer.trace.facts.memory import Memory
from tests.observers.observing import fit, observed


def test_every_tenth_step_is_sampled(tmp_path):
    data = TensorDataset(torch.randn(50, 3), torch.arange(50) % 2)
    samples = observed(tmp_path, lambda: fit(DataLoader(data, 2)), Memory)
    assert [fact.ref.step for fact in samples] == [0, 10, 20]
    assert all(fact.resident > 10**7 for fact in samples)
    assert samples[0].allocated is None or samples[0].total


def test_what_is_held_is_seen():
    before = resident()
    held = torch.ones(25_000_000)
    assert resident() - before > 0.8 * held.nbytes
