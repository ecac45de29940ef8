from __future__ import annotations

import pytest

from debugtracer.checks.data.train_eval_overlap import TrainEvalOverlap
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.epochs import Overlap
from tests.checks.windows import LOADER, ref, told

HELD = Frame("/home/someone/train.py", 21)


def found(shared: int, rows: int, trained: int = 0, split: Frame | None = None):
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
        split=split,
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


SPLIT = Frame("/home/someone/train.py", 9)


def test_a_split_that_each_part_draws_by_itself_is_the_place():
    (one,) = found(60, 160, split=SPLIT)
    assert (one.place.frame, one.place.symptom_frame) == (SPLIT, HELD)
    assert "3, 17, as a random split (train.py:9) is drawn anew for each part; expected none." in one.message
    assert one.remedy[0] == "draw the split once and give both data sets their rows of it"


def windows(shared: int, rows: int, same: int = 0):
    fact = Overlap(
        ref=ref(59), loader=1, frame=HELD, train_frame=LOADER, shared=shared, rows=rows, trained=900, how="windows",
        same=same, length=8, split=SPLIT, samples=(3, 17),
    )  # fmt: skip
    return list(TrainEvalOverlap().judge(told(fact, step=59, ended=True)))


def test_windows_that_lie_inside_those_of_training():
    (one,) = windows(250, 250)
    assert (one.severity, one.place.frame, one.place.symptom_frame) == ("warning", SPLIT, HELD)
    assert one.message == (
        "step 59, rank 0: 250 of 250 windows of the evaluation (train.py:21) end with 8 values that windows of "
        "training (train.py:20) hold at another place, with what follows them, e.g. samples 3, 17; expected none. Cut "
        "the series in time before windows are made of it."
    )


@pytest.mark.parametrize(
    ("shared", "rows", "same", "count"), [(7, 10, 0, 0), (19, 100, 0, 0), (20, 100, 0, 1), (90, 100, 10, 0)]
)
def test_a_few_windows_at_a_border_and_the_training_period_itself_are_silent(shared, rows, same, count):
    assert len(windows(shared, rows, same)) == count


def test_another_dataset_that_nothing_reads_makes_it_a_warning():
    fact = Overlap(
        ref=ref(59), loader=1, frame=HELD, train_frame=LOADER, shared=160, rows=160, trained=160, how="content",
        unread="held", unread_frame=SPLIT,
    )  # fmt: skip
    (one,) = TrainEvalOverlap().judge(told(fact, step=59, ended=True))
    assert (one.severity, one.place.frame, one.remedy) == (
        "warning",
        HELD,
        ("give held to the DataLoader of the evaluation",),
    )
    assert one.message == (
        "step 59, rank 0: 160 of 160 rows of the evaluation (train.py:21) were trained on (train.py:20), and held "
        "(train.py:9) is read nowhere; expected none. Give the loader held."
    )
