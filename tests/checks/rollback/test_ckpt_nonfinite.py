"""What is saved is not finite."""

from __future__ import annotations

from debugtracer.checks.rollback.ckpt_nonfinite import CkptNonfinite
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.checkpoint import CheckpointSaved
from tests.checks.crashes import REF, told


def saved(*bad):
    return CheckpointSaved(
        ref=REF, parts=("weights",), live=(), nonfinite=bad, tensors=8, frame=Frame("/p/train.py", 50)
    )


def test_the_tensors_and_the_line_that_saves():
    (finding,) = told(CkptNonfinite(), saved("average.0.weight", "average.0.bias"))
    assert finding.message == (
        "step 5, rank 0: the checkpoint saved here (train.py:50) holds non-finite values in average.0.weight and 1 "
        "more of 8 tensors; expected finite "
        "weights. Keep the last good file, and look for the first step that made them so."
    )


def test_a_finite_file_is_silent():
    assert told(CkptNonfinite(), saved()) == []


def test_one_tensor_alone_has_no_others_beside_it():
    (finding,) = told(CkptNonfinite(), saved("head.bias"))
    assert "holds non-finite values in head.bias of 8 tensors" in finding.message
