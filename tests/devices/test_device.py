"""What every backend is asked."""

from __future__ import annotations

import torch

from debugtracer.devices.device import Device
from debugtracer.devices.present import device


def test_a_kind_that_this_build_does_not_know_is_asleep_and_harmless():
    unknown = device("vulkan")
    assert not unknown.awake()
    assert not unknown.usable()
    assert unknown.rng_states() == []
    assert unknown.seeder() == ""
    unknown.restore_rng([])
    assert unknown.generator(None) is torch.default_generator
    assert unknown.memory() is None
    assert unknown.free_bytes(torch.device("vulkan")) == 2**62
    assert unknown.name() == "vulkan"
    assert not unknown.saturates()
    assert unknown.arrival() is None


class Stub:
    """A vendor's module with counters and events, as torch.cuda has them."""

    def __init__(self) -> None:
        self.recorded = 0
        self.default_generators = [torch.Generator(), torch.Generator()]

    def is_initialized(self):
        return True

    def current_device(self):
        return 1

    def memory_allocated(self):
        return 3

    def memory_reserved(self):
        return 5

    def max_memory_allocated(self):
        return 4

    def mem_get_info(self, device):
        return 7, 10

    def get_device_properties(self, index):
        return type("Properties", (), {"total_memory": 10 + index})()

    def get_device_name(self):
        return "Stub 9000"


def test_the_names_of_torch_cuda_are_asked(monkeypatch):
    stub = Stub()
    monkeypatch.setattr(Device, "module", property(lambda self: stub))
    one = Device("stub")
    memory = one.memory()
    assert (memory.allocated, memory.reserved, memory.peak, memory.total) == (3, 5, 4, 11)
    assert one.free_bytes(torch.device("cpu")) == 7
    assert one.generator(None) is stub.default_generators[1]
    assert one.generator(0) is stub.default_generators[0]
    assert one.name() == "Stub 9000"
