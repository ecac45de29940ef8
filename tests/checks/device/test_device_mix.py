from __future__ import annotations

from debugtracer.checks.device.device_mix import DeviceMix
from debugtracer.trace.facts.devices import Devices
from tests.checks.windows import ref, told


def found(*counts, few=("head.weight", "head.bias")):
    return list(DeviceMix().judge(told(Devices(ref=ref(), counts=counts, few=few))))


def test_two_parameters_left_behind():
    (one,) = found(("cuda", 60), ("cpu", 2))
    assert one.severity == "note"
    assert one.message == (
        "step 0, rank 0: 2 of 62 parameters are on cpu (head.weight, head.bias), the rest on cuda; expected one kind "
        "of device. Call .to(device) once the "
        "model is whole."
    )


def test_one_kind_is_silent():
    assert found(("cpu", 62)) == []
