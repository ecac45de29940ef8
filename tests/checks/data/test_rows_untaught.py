"""Samples whose labels are all ignored."""

from __future__ import annotations

from debugtracer.checks.data.rows_untaught import RowsUntaught
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.untaught_rows import UntaughtRows
from debugtracer.trace.finding import Finding
from tests.checks.facts_at import judged, line, ref


def told(empty: int = 71, rows: int = 128, written: Frame | None = None) -> list[Finding]:
    fact = UntaughtRows(
        ref=ref(3), path="batch['labels']", loss="cross_entropy", ignored=-100, rows=rows, empty=empty, asked=8,
        samples=tuple(range(4, 4 + empty)), frame=line(213), written=written,
    )  # fmt: skip
    return judged(RowsUntaught(), [fact])


def test_samples_without_a_target_are_told_with_the_line_that_blanks_a_row() -> None:
    (finding,) = told(written=line(182))
    assert (finding.severity, finding.kind, finding.place.frame) == ("warning", "label_mask_wrong", line(182))
    assert finding.place.sample_index == tuple(range(4, 75))
    assert finding.message == (
        "step 3, rank 0: 71 of the first 128 samples have no target: all their labels in batch['labels'] "
        "(train.py:213) are -100, which cross_entropy ignores (samples 4, 5, 6, 7, 8, 9); expected some that count in "
        "each. train.py:182 writes -100 into a whole row: look at when it does."
    )


def test_without_such_a_line_the_labels_are_named() -> None:
    (finding,) = told()
    assert finding.place.frame == line(213) and finding.message.endswith(
        "expected some that count in each. Look at one of them."
    )


def test_a_rare_sample_is_no_news() -> None:
    assert told(empty=12) == [] and len(told(empty=13)) == 1
    assert told(empty=7, rows=16) == [] and len(told(empty=8, rows=16)) == 1
