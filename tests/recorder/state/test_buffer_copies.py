"""Copies of buffers are renewed in their own memory, and put values and names back."""

from __future__ import annotations

import torch
from torch import nn

from debugtracer.recorder.state.buffer_copies import BufferCopies


def a_module() -> nn.Module:
    module = nn.BatchNorm1d(2)
    module.register_buffer("graph", torch.eye(2).to_sparse())
    return module


def test_values_and_names_come_back() -> None:
    module, copies = a_module(), BufferCopies()
    copies.take([module], on_host=False)
    mean = module.running_mean
    mean.fill_(5.0)
    module.running_mean = torch.full((2,), 7.0)
    module.graph.mul_(3)
    copies.restore()
    copies.places.restore()
    assert module.running_mean is mean and torch.equal(mean, torch.zeros(2))
    assert torch.equal(module.graph.to_dense(), torch.eye(2))


def test_the_memory_of_last_time_is_used_again() -> None:
    module, copies = a_module(), BufferCopies()
    copies.take([module], on_host=False)
    before, size = copies.values(), copies.nbytes
    module.graph.add_(torch.ones(2, 2).to_sparse())
    module.running_mean.fill_(2.0)
    copies.take([module], on_host=False)
    assert all(torch.equal(a, b) for a, b in zip(copies.values()[:-1], list(module.buffers())[:-1], strict=True))
    assert all(a is b for a, b in zip(before, copies.values(), strict=True)) and copies.nbytes > size
    assert torch.equal(copies.values()[-1].to_dense(), torch.eye(2) + 1)


def test_what_torch_does_not_copy_is_left_out() -> None:
    module, copies = a_module(), BufferCopies()
    module.register_buffer(
        "rows", torch.quantize_per_channel(torch.ones(2, 2), torch.ones(2), torch.zeros(2), 0, torch.qint8)
    )
    for _ in range(2):
        copies.take([module], on_host=False)
        assert len(copies.values()) == 4
