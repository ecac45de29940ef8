"""Apple's GPU by torch's documented names, on a stand-in module; never run on a Mac by us."""

from __future__ import annotations

import pytest
import torch

from debugtracer.devices.present import device


class Mps:
    """torch.mps as its documentation lists it."""

    def __init__(self) -> None:
        self.state = torch.tensor([1, 2], dtype=torch.uint8)

    def get_rng_state(self):
        return self.state

    def set_rng_state(self, state):
        self.state = state

    def current_allocated_memory(self):
        return 3

    def driver_allocated_memory(self):
        return 5

    def recommended_max_memory(self):
        return 9


@pytest.mark.skipif(torch.backends.mps.is_available(), reason="a Mac has its own")
def test_without_one_it_is_asleep_and_says_nothing():
    mps = device("mps")
    assert not mps.awake()
    assert not mps.usable()
    assert mps.memory() is None


def test_its_other_names_are_asked(monkeypatch):
    monkeypatch.setattr(torch, "mps", Mps())
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    mps = device("mps")
    assert mps.awake()
    memory = mps.memory()
    assert (memory.allocated, memory.reserved, memory.peak, memory.total) == (3, 5, 5, 9)
    (before,) = mps.rng_states()
    torch.mps.set_rng_state(torch.zeros(2, dtype=torch.uint8))
    mps.restore_rng([before])
    assert torch.equal(torch.mps.get_rng_state(), before)
    assert mps.generator(0) is torch.default_generator
    assert mps.seeder() == "manual_seed"
    assert mps.host_copy(torch.ones(2)).device.type == "cpu"
    assert mps.arrival() is None
