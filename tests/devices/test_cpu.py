"""The host as a device."""

from __future__ import annotations

import torch

from debugtracer.devices.present import device


def test_the_host_copies_at_once_and_is_always_awake():
    host = device("cpu")
    value = torch.tensor([1.0, float("nan")])
    copy = host.host_copy(value)
    assert copy.data_ptr() != value.data_ptr()
    assert host.arrival() is None
    assert host.awake()
    assert host.usable()
    (state,) = host.rng_states()
    torch.rand(3)
    host.restore_rng([state])
    assert torch.equal(torch.default_generator.get_state(), state)
    assert host.generator(None) is torch.default_generator
