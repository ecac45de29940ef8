from __future__ import annotations

import pytest

from debugtracer.checks.data.train_eval_overlap import TrainEvalOverlap
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.epochs import Overlap
from tests.checks.windows import LOADER, ref, told

HELD = Frame("/home/someone/train.py", 21)


def found(shared: int, rows: int, trained: int = 0):
    fact = Overlap(
        ref=ref(59),
        loader=1,
        frame=HELD,
        train_frame=LOADER,
        shared=shared,
        rows=rows,
        trained=trained,
        how="content",
        samples=(3, 17),
    )
    return list(TrainEvalOverlap().judge(told(fact, step=59, ended=True)))


def test_a_split_that_overlaps():
    (one,) = found(60, 160)
    assert (one.severity, one.place.frame, one.place.sample_index) == ("warning", HELD, (3, 17))
    assert one.message == (
        "step 59, rank 0: 60 of 160 rows of the evaluation (train.py:21) were trained on (train.py:20), e.g. samples "
        "3, 17; expected none. "
        "Split by index, once."
    )


@pytest.mark.parametrize(
    ("shared", "rows", "want"), [(2, 10, []), (5, 1000, []), (160, 160, ["note"]), (10, 1000, ["warning"])]
)
def test_few_duplicates_are_silent_and_the_whole_training_set_is_a_note(shared, rows, want):
    assert [one.severity for one in found(shared, rows)] == want


def test_a_run_that_ends_early_has_trained_on_a_part_of_what_it_evaluates():
    assert [one.severity for one in found(21, 64, 21)] == ["note"]
    assert [one.severity for one in found(21, 64, 200)] == ["warning"]
