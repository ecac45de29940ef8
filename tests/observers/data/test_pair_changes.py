"""Which target each input had, and has when it comes again."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from debugtracer.observers.data.pair_changes import TargetedRows, pair_change, row_codes

ROWS = 300


def data(classes=4, seed=0):
    made = np.random.default_rng(seed)
    return made.integers(0, 2**60, ROWS), made.integers(0, classes, ROWS), made


def pairs(inputs, targets, places=None):
    return TargetedRows(inputs, targets, np.arange(len(inputs)) if places is None else places)


@pytest.mark.parametrize("classes", [2, 4, 2**40])
def test_sides_that_moved_are_told_apart(classes):
    x, y, made = data(classes)
    order, other = made.permutation(ROWS), made.permutation(ROWS)
    for now, side in (
        (pairs(x[order], y), "inputs"), (pairs(x, y[order]), "targets"), (pairs(x[order], y[other]), "both")
    ):  # fmt: skip
        found = pair_change(pairs(x, y), now, whole=True)
        assert found is not None
        assert (found.moved, found.rows, found.known) == (side, ROWS, ROWS)
        assert found.changed > ROWS * (1 - 1 / classes) * 0.8


def test_pairs_that_stay_together_are_none():
    x, y, made = data()
    order = made.permutation(ROWS)
    assert pair_change(pairs(x, y), pairs(x[order], y[order]), whole=True) is None


def test_inputs_that_are_made_anew_never_come_again():
    x, y, made = data()
    assert pair_change(pairs(x, y), pairs(x + 1, y[made.permutation(ROWS)]), whole=True) is None


def test_cluster_ids_that_are_numbered_anew_follow_the_old_ones():
    x, y, _ = data()
    assert pair_change(pairs(x, y), pairs(x, (y + 1) % 4), whole=True) is None


def test_a_third_of_noisy_labels_is_no_shuffle():
    x, y, made = data()
    noisy = np.where(made.random(ROWS) < 0.33, made.integers(0, 4, ROWS), y)
    assert pair_change(pairs(x, y), pairs(x, noisy), whole=True) is None


def test_targets_that_no_input_had_are_made_anew():
    x, y, made = data(2**40)
    assert pair_change(pairs(x, y), pairs(x, made.integers(0, 2**40, ROWS)), whole=True) is None


def test_few_kinds_of_inputs_say_nothing():
    _, y, made = data()
    x = made.integers(0, 40, ROWS)
    assert pair_change(pairs(x, y), pairs(x, y[made.permutation(ROWS)]), whole=True) is None


def test_one_row_in_five_that_repeats_says_nothing_of_a_part_of_the_data():
    x, y, made = data()
    x[:60] = x[60:120]
    now = pairs(x, y[made.permutation(ROWS)])
    assert pair_change(pairs(x, y), now, whole=False) is None
    assert pair_change(pairs(x, y), now, whole=True) is not None


def test_equal_rows_have_equal_codes_in_any_batch():
    rows = torch.randn(8, 100)
    one, other = row_codes(rows), row_codes(rows[3:5].clone())
    assert one is not None
    assert other is not None
    assert one[3:5].tolist() == other.tolist()
    assert len(set(one.tolist())) == 8
    assert row_codes(torch.arange(4)) is not None
    assert row_codes(torch.tensor([True, False])) is not None
    assert row_codes(torch.randn(3, 2).bfloat16()) is not None


@pytest.mark.parametrize("leaf", [torch.tensor(1.0), torch.zeros(0, 3), torch.zeros(2, 2, dtype=torch.complex64)])
def test_what_has_no_rows_has_no_codes(leaf):
    assert row_codes(leaf) is None
