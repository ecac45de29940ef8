"""The size of an update, of small weights exactly and of large ones by a sample."""

from __future__ import annotations

import pytest
import torch

from debugtracer.observers.numerics import weights_before
from debugtracer.observers.numerics.even_sample import LEAST
from debugtracer.observers.numerics.weights_before import WHOLE, WeightsBefore


def changed(tensors, before):
    return before.sizes(tensors, before.changes(tensors))


def test_small_weights_are_compared_whole():
    tensors = [torch.ones(3), torch.ones(4)]
    before = WeightsBefore(tensors)
    tensors[0][2] += 2.0
    assert changed(tensors, before) == {id(tensors[0]): 2.0, id(tensors[1]): 0.0}
    assert before.norms == {id(tensors[0]): pytest.approx(3**0.5), id(tensors[1]): 2.0}
    assert changed([torch.ones(3)], before) == {}


def test_of_large_ones_a_sample_tells_and_little_is_copied(monkeypatch):
    monkeypatch.setattr(weights_before, "sample_size", lambda tensors: LEAST)
    tensors = [torch.zeros(WHOLE), torch.zeros(16)]
    before = WeightsBefore(tensors)
    assert sum(sample.nbytes for sample in before.samples.values()) <= 4 * (2 * LEAST + 16)
    change = torch.randn(WHOLE, generator=torch.Generator().manual_seed(0))
    tensors[0] += change
    assert changed(tensors, before)[id(tensors[0])] == pytest.approx(change.norm().item(), rel=0.05)
