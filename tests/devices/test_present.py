"""Which devices there are."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from debugtracer import devices
from debugtracer.devices.device import Device
from debugtracer.devices.present import accelerator, device, kinds, names, place, seeders


def test_the_files_of_the_room_are_the_kinds():
    files = (Path(devices.__file__).parent).glob("[a-z]*.py")
    assert sorted(kinds()) == sorted({file.stem for file in files} - {"device", "present"})
    assert {kind: one.kind for kind, one in kinds().items()} == {kind: kind for kind in kinds()}


def test_a_kind_without_a_file_is_taken_to_name_things_as_cuda_does():
    xpu = device("xpu")
    assert type(xpu) is Device
    assert xpu.kind == "xpu"
    assert xpu.module is torch.xpu
    assert not xpu.awake()


@pytest.mark.parametrize("kind", [kind for kind in names() if kind != "cpu"])
def test_asking_wakes_no_device(kind):
    before = device(kind).awake()
    device(kind).memory()
    accelerator()
    assert device(kind).awake() is before


@pytest.mark.skipif(torch.accelerator.is_available(), reason="a machine with an accelerator uses it")
def test_a_process_that_uses_no_accelerator_has_none():
    assert accelerator() is None


def test_the_functions_that_seed_devices_are_those_that_torch_calls():
    assert ("cuda", torch.cuda, "manual_seed_all") in seeders()
    assert all(callable(getattr(owner, name)) for _, owner, name in seeders())
    assert "cpu" not in {kind for kind, _, _ in seeders()}, "torch.manual_seed seeds more than the host"


def test_a_vendors_device_is_read_as_the_host_where_its_backend_is_not_loaded():
    assert place("npu:0") == torch.device("cpu")
    assert place("cuda:1") == torch.device("cuda", 1)
    with pytest.raises(RuntimeError):
        place("frog:0")
