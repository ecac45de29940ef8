from __future__ import annotations

import pytest

from debugtracer.checks.data.restarted_pass import RestartedPass
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.epochs import Restart
from debugtracer.trace.facts.stored_rows import StoredLeaf, StoredRows
from tests.checks.windows import LOADER, ref, told


def found(asked: int = 1, batches: int | None = 40):
    fact = Restart(ref=ref(10), loader=0, frame=LOADER, first=0, count=10, asked=asked, batches=batches)
    return list(RestartedPass().judge(told(fact, step=10)))


def test_ten_passes_of_one_batch():
    (one,) = found()
    assert (one.severity, one.place.frame) == ("warning", LOADER)
    assert one.message == (
        "step 10, rank 0: the batch of iteration 0 has come 10 more times, each time as the first and only one of a "
        "new pass over 40 batches (train.py:20); "
        "expected new samples in each step. Make the iterator once, outside the loop."
    )


def test_whole_passes_in_a_fixed_order_and_overfit_tests_are_silent():
    assert found(asked=40) == []
    assert found(batches=3) == []
    assert found(batches=None) == []


def of_rows(**change):
    leaf = StoredLeaf(path="input", name="x", whole=False)
    known = {"length": 1600, "rows": 16, "looks": 6, "in_order": True, "same": True, "frame": LOADER}
    return list(RestartedPass().judge(told(StoredRows(ref=ref(200), leaves=(leaf,), **{**known, **change}), step=200)))


@pytest.mark.parametrize(
    ("code", "severity"),
    [
        ("x, y = rows[start : start + 16], wanted[start : start + 16]", "warning"),
        ("loss = cost(net(X[:32]), Y[:32])", "note"),
        ("x = X[0:args.batch_size]", "note"),
        ("x = X[:, :3]", "warning"),
    ],
)
def test_a_line_that_asks_for_the_first_rows_means_them(code, severity):
    (one,) = of_rows(frame=Frame("/p/train.py", 20, code=code))
    assert one.severity == severity


def test_scattered_rows_may_be_all_that_have_labels():
    (one,) = of_rows(in_order=False)
    assert one.severity == "note"
    assert one.message.endswith("Let the index move with the step, unless these are all that it is to learn from.")


def test_five_looks_are_told_at_the_end_unless_other_rows_came():
    leaf, memories = StoredLeaf(path="input", name="x", whole=False), {}
    rows = StoredRows(
        ref=ref(200), leaves=(leaf,), length=1600, rows=16, looks=5, in_order=True, same=True, frame=LOADER
    )
    assert not list(RestartedPass().judge(told(rows, step=200, memories=memories)))
    assert len(list(RestartedPass().judge(told(step=250, ended=True, memories=dict(memories))))) == 1
    memories = {}
    moved = StoredRows(
        ref=ref(300), leaves=(leaf,), length=1600, rows=16, looks=6, in_order=True, same=False, frame=LOADER
    )
    assert not list(RestartedPass().judge(told(rows, step=200, memories=memories)))
    assert not list(RestartedPass().judge(told(moved, step=300, memories=memories)))
    assert not list(RestartedPass().judge(told(step=350, ended=True, memories=memories)))


def test_the_same_stored_rows_cut_anew_in_each_step():
    (one,) = of_rows()
    assert one.message == (
        "step 200, rank 0: the 16 rows from row 0 on are cut anew and are the same in all 6 steps looked at, of 1600 "
        "rows of x; expected new rows in each step. Let the index move with the step."
    )
    assert (one.severity, one.place.frame) == ("warning", LOADER)


def test_other_rows_few_looks_and_few_batches_are_silent():
    assert of_rows(same=False) == of_rows(looks=4) == of_rows(length=160) == []
