"""A text that goes on from row to row."""

from __future__ import annotations

from debugtracer.checks.data.rows_interleaved import RowsInterleaved
from debugtracer.trace.facts.interleaved_rows import InterleavedRows
from tests.checks.optimizer.seen import at, found, line


def fact(step=2, dim=1, frame=26):
    return InterleavedRows(
        ref=at(step), rows=12, length=24, dim=dim, tokens=864, along=0.4, across=31.0, joined=60, joins=69,
        expected=9.5, frame=line(frame) if frame else None, loss_frame=line(44),
    )  # fmt: skip


def test_it_is_said_once_at_the_line_that_lays_out_the_rows():
    (finding,) = found(RowsInterleaved(), [fact(2), fact(5)])
    assert (finding.severity, finding.kind) == ("warning", "axes_mixed")
    assert (finding.place.frame, finding.place.symptom_frame) == (line(26), line(44))
    assert finding.message == (
        "step 2, rank 0: the text goes on from row to row and not along the 12 rows of 24 tokens (laid out at "
        "train.py:26): pairs of neighbours come again 31 standard deviations more often than by chance across rows, "
        "0.4 along them; expected the text along the rows. Use view(12, -1)."
    )


def test_time_first_needs_a_transpose_and_an_unknown_line_is_that_of_the_loss():
    (finding,) = found(RowsInterleaved(), [fact(dim=0, frame=None)])
    assert finding.message.endswith("Use view(12, -1).t().") and finding.place.frame == line(44)
