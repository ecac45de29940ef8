"""What every backend is asked, on the backends that any machine has."""

from __future__ import annotations

import pytest
import torch

from debugtracer.devices.device import Device
from debugtracer.devices.present import accelerator, device, kinds, names, place


def test_the_files_of_the_room_are_the_kinds():
    assert sorted(kinds()) == ["cpu", "cuda", "mps", "npu"]
    assert {kind: one.named for kind, one in kinds().items()} == {kind: kind for kind in kinds()}


def test_a_kind_without_a_file_is_taken_to_name_things_as_cuda_does():
    xpu = device("xpu")
    assert type(xpu) is Device
    assert xpu.named == "xpu"
    assert xpu.module is torch.xpu
    assert not xpu.awake()


def test_a_kind_that_this_build_does_not_know_is_asleep_and_harmless():
    unknown = device("vulkan")
    assert not unknown.awake()
    assert not unknown.usable()
    assert unknown.rng_states() == []
    unknown.restore_rng([])
    assert unknown.generator(None) is torch.default_generator
    assert unknown.memory() is None
    assert unknown.free_bytes(torch.device("vulkan")) == 2**62
    assert unknown.name() == "vulkan"
    assert not unknown.saturates()
    assert unknown.arrival() is None


@pytest.mark.parametrize("kind", [kind for kind in names() if kind != "cpu"])
def test_asking_wakes_no_device(kind):
    before = device(kind).awake()
    device(kind).memory()
    accelerator()
    assert device(kind).awake() is before


@pytest.mark.skipif(torch.accelerator.is_available(), reason="a machine with an accelerator uses it")
def test_a_process_that_uses_no_accelerator_has_none():
    assert accelerator() is None


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


@pytest.mark.parametrize("kind", ["cuda", "npu"])
def test_the_variable_that_makes_kernels_wait(kind):
    assert device(kind).blocking.endswith("_LAUNCH_BLOCKING")


def test_the_flag_of_npu_is_read_only_where_chips_saturate(monkeypatch):
    said = {}
    utils = type("utils", (), {"is_support_inf_nan": staticmethod(lambda: said["inf"])})
    module = type("npu", (), {"utils": utils, "get_npu_overflow_flag": staticmethod(lambda: 1), "clear_npu_overflow_flag": staticmethod(said.clear)})
    monkeypatch.setattr(Device, "module", property(lambda self: module))
    npu = device("npu")
    for inf in (True, False):
        said["inf"] = inf
        assert npu.saturates() is not inf
    assert npu.overflowed() is True
    npu.clear_overflow()
    assert said == {}


def test_a_vendors_device_is_read_as_the_host_where_its_backend_is_not_loaded():
    assert place("npu:0") == torch.device("cpu")
    assert place("cuda:1") == torch.device("cuda", 1)
    with pytest.raises(RuntimeError):
        place("frog:0")
