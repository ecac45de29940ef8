"""Dtypes that do not go together."""

from __future__ import annotations

from debugtracer.checks.numerics.dtype_mismatch import DtypeMismatch
from debugtracer.trace.facts.crash import ModuleSeen
from tests.checks.crashes import a_crash, seen, silent_on_another_error, told


def test_the_odd_tensor_is_named():
    module = ModuleSeen(path="0", kind="Linear", dtype="float32")
    crash = a_crash(
        "mat1 and mat2 must have the same dtype, but got Double and Float",
        modules=(module,),
        tensors=(seen("input", 16, 8, dtype="float64"),),
    )
    (finding,) = told(DtypeMismatch(), crash)
    assert finding.message == (
        "step 5, rank 0: 0 (Linear, float32) was given input float64 (16, 8); expected float32. Convert it where it is "
        "made (.float() for inputs, .long() "
        "for class labels)."
    )


def test_a_target_that_is_no_class_number():
    crash = a_crash(
        "expected target dtype to be Long or Byte, but got Float",
        torch_calls=("cross_entropy",),
        tensors=(seen("target", 16),),
    )
    (finding,) = told(DtypeMismatch(), crash)
    assert "cross_entropy was given a target of dtype float32 (16,); expected int64 class numbers" in finding.message


def test_another_exception_is_none_of_its_business():
    silent_on_another_error(DtypeMismatch())
