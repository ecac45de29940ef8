"""The dtype of a tensor in the middle of a run."""

from __future__ import annotations

import pytest

from debugtracer.checks.data.dtype_drift import DtypeDrift
from debugtracer.trace.facts.batch_content import BatchSchema, LeafSchema
from debugtracer.trace.step import StepRef
from tests.checks.data.batches import LOADER, a_change, a_window


def test_a_new_dtype_after_many_batches_is_loud():
    (finding,) = DtypeDrift().judge(a_window(a_change("dtype", "int64", "float64")))
    assert finding.message == (
        "step 30, rank 0: batch[1] of batch 30 of Corpus (train.py:50) is float64; it was int64 in 30 batches before; "
        "expected one dtype. "
        "Cast it where the dataset makes the sample."
    )
    assert (finding.severity, finding.kind, finding.place.frame) == ("warning", "data_dtype_drift", LOADER.made_at)


def test_a_dtype_that_is_not_allowed_is_a_note_for_floating_tensors_alone():
    leaves = tuple(
        LeafSchema(path=f"batch[{n}]", dtype=dtype, device="cpu", layout="strided", shape=(4,))
        for n, dtype in enumerate(("float32", "bfloat16", "int64"))
    )
    schema = BatchSchema(ref=StepRef(iteration=0, step=0), loader=LOADER, leaves=leaves)
    assert not list(DtypeDrift().judge(a_window(schema)))
    (finding,) = DtypeDrift(allowed=("float32", "float64")).judge(a_window(schema))
    assert (finding.severity, finding.message) == (
        "note",
        "step 0, rank 0: batch[1] of Corpus is bfloat16; expected float32 or float64. Cast it where the dataset makes "
        "the sample.",
    )


SMALL = [
    a_change("dtype", "int64", "float64", batches=19),
    a_change("device", "cpu", "cuda"),
    a_change("layout", "strided", "mkldnn"),
]


@pytest.mark.parametrize("change", SMALL, ids=["little known", "device", "layout"])
def test_little_experience_and_devices_are_a_note(change):
    (finding,) = DtypeDrift().judge(a_window(change))
    assert finding.severity == "note"


def test_shapes_are_not_its_business():
    assert not list(DtypeDrift().judge(a_window(a_change("rank", "(*,)", "(*, 1)"))))
