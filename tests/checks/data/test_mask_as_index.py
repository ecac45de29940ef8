"""Masks that are indices."""

from __future__ import annotations

from debugtracer.checks.data.mask_as_index import MaskAsIndex
from debugtracer.trace.facts.mask_index import MaskIndex
from tests.checks.optimizer.seen import at, found, line


def judged(writes):
    return found(
        MaskAsIndex(),
        [MaskIndex(ref=at(0), frame=line(47), dtype="int64", rows=240, ones=80, writes=writes)],
    )


def test_the_rows_that_are_taken_and_those_that_were_meant_are_told():
    (finding,) = judged(False)
    assert (finding.severity, finding.kind, finding.place.frame) == ("warning", "data_rows_left_out", line(47))
    assert finding.message == (
        "step 0, rank 0: a mask of int64 (train.py:47) with 80 ones for 240 rows is used as an index, so rows 0 and 1 "
        "are taken 240 times; expected the 80 marked rows. Make it bool: mask.bool()."
    )


def test_a_write_is_called_one():
    assert "rows 0 and 1 are written 240 times" in judged(True)[0].message
