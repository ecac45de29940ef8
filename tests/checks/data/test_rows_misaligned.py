"""Rows of the target beside rows of the input."""

from __future__ import annotations

from debugtracer.checks.data.rows_misaligned import RowsMisaligned
from debugtracer.trace.facts.rows_taken import RowsTaken
from tests.checks.optimizer.seen import at, found, line


def looked(step, same=1, *, shifted=False):
    return RowsTaken(
        ref=at(step), loss="mse_loss", loss_frame=line(14), frame=line(13), input_frame=line(12), length=960, rows=32,
        same=same, shifted=shifted, first=((802, 0), (31, 1), (440, 2)),
    )  # fmt: skip


def test_two_looks_are_needed_and_it_is_said_once():
    assert found(RowsMisaligned(), [looked(0)]) == []
    (finding,) = found(RowsMisaligned(), [looked(s) for s in range(3)])
    assert (finding.severity, finding.kind, finding.place.frame) == ("warning", "targets_misaligned", line(13))
    assert finding.message == (
        "step 1, rank 0: mse_loss (train.py:14) compares rows 802, 31, 440 ... of the inputs (train.py:12) with rows "
        "0, 1, 2 ... of the targets (train.py:13): 1 of 32 have one number of the 960; expected the same rows. Take "
        "both by one index."
    )


def test_one_look_at_the_same_rows_ends_it():
    assert found(RowsMisaligned(), [looked(0), looked(1, same=32), looked(2), looked(3)]) == []


def test_half_of_the_rows_is_the_limit():
    assert len(found(RowsMisaligned(), [looked(0, same=16), looked(1, same=16)])) == 1
    assert found(RowsMisaligned(), [looked(0, same=17), looked(1, same=17)]) == []


def test_a_forecast_is_silent():
    assert found(RowsMisaligned(), [looked(s, same=0, shifted=True) for s in range(3)]) == []
