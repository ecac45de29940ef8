"""Which rows may be left out, and the words for it."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch

from debugtracer.errors import ReplayRefused
from debugtracer.interventions.without_sample import WithoutSample, healthy_row, overwritten, words

NONE = "no single row of the batch is known to be guilty"


@pytest.mark.parametrize(
    ("value", "guilty", "rows", "why"),
    [
        (None, None, 4, NONE),
        (None, (), 4, NONE),
        (None, (0,), 4, ""),
        (None, (3,), 4, ""),
        (None, (4,), 4, "row 4 is not in the batch, which has rows 0 to 3"),
        (None, (-1,), 4, "row -1 is not in the batch, which has rows 0 to 3"),
        (None, (0, 9), None, "row 0, 9 is not in the batch, which has rows 0 to 0"),
        (None, (0, 1, 2, 3), 4, "every row of the batch is guilty"),
        (None, (0, 1, 2), 4, ""),
        (0.0, (0, 1, 2, 3), 4, ""),
        (0.0, None, 1, "every row of the batch is guilty"),
        (0.0, None, 0, "row 0 is not in the batch, which has rows 0 to 0"),
    ],
)
def test_rows_are_left_out_where_they_are_in_the_batch_and_one_stays(value, guilty, rows, why):
    assert WithoutSample(value).objection(guilty, rows) == why
    rerun = SimpleNamespace(batch=["x"], guilty=guilty, rows=rows)
    assert WithoutSample(value).refuses(rerun) == why
    nothing = SimpleNamespace(batch=[], guilty=guilty, rows=rows)
    assert WithoutSample(value).refuses(nothing) == "no input of the step has the rows of a batch"


def test_the_first_healthy_row_stands_in():
    assert healthy_row((0, 1, 3), 4) == 2 and healthy_row((2,), 4) == 0
    with pytest.raises(StopIteration):
        healthy_row((), None)
    tensor = torch.arange(8.0).reshape(4, 2).t().contiguous().t()
    assert overwritten(tensor, (0, 3), 1).tolist() == [[2.0, 3.0], [2.0, 3.0], [4.0, 5.0], [2.0, 3.0]]


@pytest.mark.parametrize(
    ("guilty", "expected"),
    [
        ((3,), "row 3 replaced by row 0"),
        ((3, 4), "rows 3, 4 replaced by row 0"),
        (tuple(range(1, 7)), "rows 1, 2, 3, 4, 5, 6 replaced by row 0"),
        (tuple(range(1, 8)), "rows 1, 2, 3, 4, 5, 6 ... replaced by row 0"),
    ],
)
def test_the_words_name_six_rows(guilty, expected):
    assert words(guilty, 0) == expected


def a_tape(guilty, inputs=("batch[0]",)):
    return SimpleNamespace(
        batch=lambda: [(label, n) for n, label in enumerate(inputs)],
        guilty=guilty,
        rows=3,
        value=lambda ref: torch.arange(3.0),
        replaced={},
    )


def test_rows_of_a_capsule_are_replaced_in_each_input():
    tape = a_tape((1,), ("batch[0]", "batch[1]"))
    assert WithoutSample().offline(tape) == "row 1 replaced by row 0"
    assert {ref: value.tolist() for ref, value in tape.replaced.items()} == {0: [0.0, 0.0, 2.0], 1: [0.0, 0.0, 2.0]}


@pytest.mark.parametrize(
    ("value", "guilty", "inputs", "hint"),
    [
        (None, None, ("batch[0]",), True),
        (None, (0, 1, 2), ("batch[0]",), False),
        (7.0, None, ("batch[0]",), False),
        (None, None, (), False),
    ],
)
def test_a_row_is_asked_for_where_none_is_known(value, guilty, inputs, hint):
    with pytest.raises(ReplayRefused) as refused:
        WithoutSample(value).offline(a_tape(guilty, inputs))
    assert str(refused.value).endswith("; name one: without-sample=ROW") is hint
