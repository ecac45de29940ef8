"""Does each sample have ids of its own?"""

from __future__ import annotations

from debugtracer.checks.data.same_row import SameRow
from debugtracer.trace.facts.same_rows import SameRows
from tests.checks.facts_at import judged, line, ref


def fact(made=(27, 30)):
    return SameRows(
        ref=ref(0), dataset="Pairs", path="batch[2]", beside="batch[0]", rows=96, columns=12, frame=line(60),
        made=tuple(line(n) for n in made),
    )  # fmt: skip


def test_a_row_of_all_samples_is_told_at_the_line_that_took_it():
    (finding,) = judged(SameRow(), [fact()])
    assert (finding.severity, finding.kind) == ("warning", "data_constant_feature")
    assert (finding.place.frame, finding.place.symptom_frame) == (line(27), line(60))
    assert finding.message == (
        "step 0, rank 0: batch[2] of Pairs (train.py:60) is the same row of 12 ids in all 96 samples, made at "
        "train.py:27 -> train.py:30, while batch[0] differs; expected one of its own for each sample. Draw it in "
        "__getitem__."
    )


def test_without_the_lines_that_made_it_it_is_the_loader_s():
    (finding,) = judged(SameRow(), [fact(made=())])
    assert finding.place.frame == line(60)
