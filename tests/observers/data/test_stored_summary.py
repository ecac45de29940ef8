"""Numbers of a stored array as a whole."""

from __future__ import annotations

import math

import pytest
import torch

from debugtracer.observers.data.stored_summary import far_values, stopped_columns, stored_leaf


def numbers(rows=400, columns=3):
    return torch.randn(rows, columns, generator=torch.Generator().manual_seed(0))


def test_the_scale_of_floats_is_measured_and_integers_are_ids():
    leaf = stored_leaf("input", "x", numbers() * 5 + 100, 16, labels=False)
    assert (leaf.mean, leaf.std) == pytest.approx((100, 5), rel=0.1)
    assert leaf.low < 90 < 110 < leaf.high
    ids = stored_leaf("input", "ids", torch.arange(800).reshape(400, 2), 16, labels=False)
    assert (ids.whole, ids.std) == (True, 0.0)


def test_labels_class_by_class_have_no_entropy_in_a_part_and_mixed_ones_have():
    labels = torch.arange(4).repeat_interleave(100)
    sorted_ = stored_leaf("target", "y", labels, 16, labels=True)
    assert (sorted_.classes, sorted_.entropy) == (4, 0.0)
    assert sorted_.pooled == pytest.approx(math.log(4))
    assert sorted_.skewed > 0.8
    mixed = stored_leaf("target", "y", labels[torch.randperm(400)], 16, labels=True)
    assert mixed.skewed == 0.0
    assert mixed.entropy > 1.0


@pytest.mark.parametrize(
    ("labels", "part"), [(torch.arange(400), 16), (torch.arange(2).repeat(200), 4)], ids=["ids", "few rows"]
)
def test_ids_and_batches_of_few_rows_have_no_classes(labels, part):
    assert stored_leaf("target", "y", labels, part, labels=True).classes == 0


@pytest.mark.parametrize("value", [-9999.0, 9999.0])
def test_a_code_is_far_from_all_others_of_its_column(value):
    x = numbers()
    x[[7, 90], 1] = value
    (far,) = far_values(x)
    assert (far.value, far.rows, far.count, far.column) == (value, (7, 90), 2, 1)
    assert -5 < far.low < -2
    assert 2 < far.high < 5


def test_pictures_are_asked_as_a_whole():
    x = numbers(200, 2 * 8 * 8).reshape(200, 2, 8, 8)
    x[31] *= 1000
    assert {(far.rows, far.column) for far in far_values(x)} == {((31,), None)}


@pytest.mark.parametrize(
    "x",
    [
        numbers(),
        torch.distributions.StudentT(2.0).sample((400, 3)),
        numbers().exp() ** 2,
        torch.nn.functional.one_hot(torch.arange(400) % 400, 401).float(),
        numbers(40).index_fill(0, torch.tensor([3]), 1e6),
        torch.cat([numbers(), numbers() * 1000]),
    ],
    ids=["normal", "heavy tails", "long tail", "one-hot", "few rows", "two kinds of rows"],
)
def test_tails_switches_and_kinds_of_rows_are_not_far(x):
    assert far_values(x) == ()


def test_a_column_that_stands_still_to_the_end_is_told_with_its_row():
    x = numbers(16 * 60)
    x[853:, 2] = 4.0
    (stopped,) = stopped_columns(x, 16)
    assert (stopped.column, stopped.row, stopped.value) == (2, 853, 4.0)


def test_sequences_in_the_order_of_their_length_have_no_column_that_stands_still():
    x = numbers(16 * 70, 4)
    for column, row in enumerate((1120, 1030, 980, 900)):
        x[row:, column] = 0.0
    assert stopped_columns(x, 16) == ()


@pytest.mark.parametrize("still", [slice(0, 960), slice(0, 200), slice(500, 700), slice(940, 960)])
def test_columns_that_never_move_or_move_again_are_left_alone(still):
    x = numbers(16 * 60)
    x[still, 2] = 4.0
    assert stopped_columns(x, 16) == ()
