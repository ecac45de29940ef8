"""Tensors on different devices."""

from __future__ import annotations

from debugtracer.checks.device.device_mismatch import DeviceMismatch
from debugtracer.trace.facts.crash import ModuleSeen
from tests.checks.crashes import a_crash, seen, silent_on_another_error, told


def test_the_tensor_that_was_left_behind():
    module = ModuleSeen(path="encoder", kind="Linear", device="cuda:0")
    text = "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"
    (finding,) = told(DeviceMismatch(), a_crash(text, modules=(module,), tensors=(seen("input", 16, 8),)))
    assert (
        finding.message
        == "step 5, rank 0: encoder (Linear, cuda:0) was given input on cpu; expected cuda:0. Move it with .to(device)."
    )


def test_another_exception_is_none_of_its_business():
    silent_on_another_error(DeviceMismatch())
