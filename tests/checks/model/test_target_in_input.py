"""Is the target among the inputs?"""

from __future__ import annotations

from debugtracer.checks.model.target_in_input import TargetInInput
from debugtracer.trace.facts.target_column import TargetColumn
from tests.checks.facts_at import judged, line, ref


def column(step: int, looks: int, equal: bool = True) -> TargetColumn:
    return TargetColumn(
        ref=ref(step), column=11, columns=12, rows=32, looks=looks, equal=equal, path="batch[0]", frame=line(14)
    )


def test_three_batches_are_told_at_the_first():
    (finding,) = judged(TargetInInput(), [column(step, step + 1) for step in range(5)])
    assert finding.message == (
        "step 0, rank 0: column 11 of 12 of batch[0] is the target (equal values) in 3 batches of 32; expected no "
        "column that tells it. Drop the column."
    )
    assert (finding.severity, finding.kind, finding.place.frame.line) == ("warning", "label_leak", 14)


def test_two_batches_are_silent():
    assert not judged(TargetInInput(), [column(0, 1), column(1, 2), column(2, 1)])
