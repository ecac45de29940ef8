"""Values overwritten before backward."""

from __future__ import annotations

import msgspec
import pytest

from debugtracer.checks.model.inplace_modified import InplaceModified
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.crash import InplaceWrite, InplaceWrites
from debugtracer.trace.step import StepRef
from tests.checks.crashes import LINE, REF, a_batch, a_crash, silent_on_another_error, told

TEXT = (
    "one of the variables needed for gradient computation has been modified by an inplace operation: "
    "[torch.FloatTensor [32, 24]], which is output 0 of "
    "TanhBackward0, is at version {}; expected version 0 instead. Hint: ..."
)
AT = Frame("/p/train.py", 17, "forward", "hidden *= gate")


def write(name="mul_", shape=(32, 24), version=1, **more):
    return InplaceWrite(name=name, shape=shape, version=version, frame=AT, **more)


def judged(*writes, version=1):
    return told(InplaceModified(), a_crash(TEXT.format(version)), InplaceWrites(ref=REF, writes=writes))


def test_the_first_write_past_the_expected_version_is_the_line():
    (finding,) = judged(write(shape=(3,)), write(), write("add_", version=2), version=2)
    assert finding.message == (
        "step 5, rank 0: backward (train.py:34) needs output of TanhBackward0, shape (32, 24), which mul_ "
        "(train.py:17) has changed in place (version 2, "
        "expected 0). Write a new tensor instead of changing this one."
    )
    assert (finding.place.frame, finding.place.symptom_frame) == (AT, LINE)


def masked(*rows: int, step: int = 5, base: tuple[int, ...] = (32, 24)):
    """Some rows written in the forward that was executed again, by a batch of 32 samples."""
    again = write("__setitem__", base=base, op="aten::index_put_", module="gate", rows=rows)
    batch = a_batch(32, indices=tuple(range(100, 132)))
    crash = msgspec.structs.replace(a_crash(TEXT.format(1), batch=batch), ref=StepRef(iteration=step, step=step))
    return told(InplaceModified(), crash, InplaceWrites(ref=REF, writes=(write("__setitem__"), again), again=True))


def test_a_write_to_few_rows_names_their_samples():
    (finding,) = masked(4)
    assert "which __setitem__ (train.py:17) has changed in place in row 4 of the batch (sample 104) (version" in (
        finding.message
    )
    place = finding.place
    assert (place.op, place.module, place.batch_rows, place.sample_index) == ("aten::index_put_", "gate", (4,), (104,))
    assert "changed in place in 2 rows of the batch (samples 104, 109) (version" in masked(4, 9)[0].message
    assert masked(*range(15))[0].place.batch_rows == tuple(range(15)), "one less than half"


@pytest.mark.parametrize(
    ("rows", "more"), [((4,), {"step": 0}), (tuple(range(16)), {}), ((4,), {"base": (24, 32)})], ids=["0", "half", "T"]
)
def test_no_sample_is_named_where_the_rows_are_no_reason(rows, more):
    (finding,) = masked(*rows, **more)
    assert (finding.place.batch_rows, finding.place.sample_index) == (None, None)
    assert "changed in place (version" in finding.message


def test_an_optimizer_is_named_when_no_other_write_fits():
    (finding,) = judged(write(shape=(3,)), write("SGD.step", shape=(24, 32), param="fc.weight"))
    assert finding.place.param == "fc.weight"
    assert "The optimizer wrote between the forward and this backward" in finding.message
    assert (finding.exact, finding.confidence) == (False, 0.5)


def test_a_forward_after_the_step_means_a_graph_of_before():
    (finding,) = judged(write("SGD.step", shape=(24, 32), param="fc.weight", forwards=True))
    assert "detach what is carried from step to step" in finding.message
    assert not finding.exact


def transposed(*writes):
    return told(
        InplaceModified(),
        a_crash(TEXT.replace("TanhBackward0", "AsStrided").format(1)),
        InplaceWrites(ref=REF, writes=writes),
    )


def test_a_view_of_a_weight_is_that_weight_and_other_tensors_of_its_shape_are_not():
    (finding,) = transposed(write("zero_", version=1), write("clamp_", shape=(32,), base=(24, 32), param="fc.weight"))
    assert "needs the parameter fc.weight, shape (32, 24), which clamp_ (train.py:17)" in finding.message
    assert finding.exact


def test_a_weight_or_buffer_that_nobody_was_seen_to_write_is_no_proof():
    (finding,) = transposed(write("zero_", version=1))
    assert not finding.exact
    (finding,) = told(InplaceModified(), a_crash(TEXT.replace(", which is output 0 of TanhBackward0,", "").format(1)))
    assert (finding.exact, finding.place.frame) == (False, LINE)


def test_without_a_write_the_class_is_still_proved():
    (finding,) = judged()
    assert finding.place.frame == LINE
    assert "which was changed in place" in finding.message


def test_a_parameter_written_while_autograd_records():
    (finding,) = told(
        InplaceModified(), a_crash("a leaf Variable that requires grad is being used in an in-place operation.")
    )
    assert finding.remedy[0] == "put the write into `with torch.no_grad():`"


def test_another_exception_is_none_of_its_business():
    silent_on_another_error(InplaceModified())


def test_an_output_of_a_slice_that_was_written_is_named_by_its_last_word():
    text = (
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        "[torch.FloatTensor [16, 6]], which is output 0 of torch::autograd::CopySlices, is at version 1; expected "
        "version 0 instead."
    )
    (finding,) = told(InplaceModified(), a_crash(text))
    assert "needs output of CopySlices, shape (16, 6)" in finding.message
