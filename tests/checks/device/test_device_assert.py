"""A device-side assert."""

from __future__ import annotations

from debugtracer.checks.device.device_assert import DeviceAssert
from tests.checks.crashes import LINE, a_crash, silent_on_another_error, told


def test_the_class_is_a_guess_and_the_line_only_where_it_showed():
    (finding,) = told(
        DeviceAssert(), a_crash("CUDA error: device-side assert triggered\nCUDA kernel errors might be ...")
    )
    assert (finding.exact, finding.confidence, finding.place.frame, finding.place.symptom_frame) == (
        False,
        0.5,
        None,
        LINE,
    )
    assert finding.message.startswith("step 5, rank 0: a GPU kernel stopped at an index outside its range")


def test_another_exception_is_none_of_its_business():
    silent_on_another_error(DeviceAssert())
