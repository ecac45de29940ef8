"""Rows of a batch that are known by their values."""

from __future__ import annotations

import torch

from debugtracer.recorder.tape.batches import BatchLog
from debugtracer.recorder.tape.equal_rows import equal_rows, known_rows
from debugtracer.recorder.tape.held_rows import OTHER, HeldRows, all_rows
from tests.recorder.tape.test_batches import a_batch

X, Y = torch.arange(12).reshape(6, 2), torch.tensor([0, 1, 0, 2, 1, 1])
BATCH = a_batch([X, Y])


def test_rows_in_another_order_or_some_of_them_are_found() -> None:
    assert equal_rows(X[[4, 0, 2]], BATCH) == HeldRows((4, 0, 2), 6)
    assert equal_rows(X.flip(0).double(), BATCH) == HeldRows((5, 4, 3, 2, 1, 0), 6)
    assert equal_rows(X.clone().flatten(), BATCH) == all_rows(6)


def test_labels_that_several_samples_have_are_told_where_all_stand_in_order_and_else_only_the_others() -> None:
    assert equal_rows(Y.clone(), BATCH) == all_rows(6)
    assert equal_rows(Y.flip(0), BATCH) == HeldRows((OTHER, OTHER, 3, OTHER, OTHER, OTHER), 6)


def test_what_was_computed_from_a_batch_is_no_copy_of_its_rows() -> None:
    assert equal_rows(X + 100, BATCH) is None
    assert equal_rows(torch.tensor([2, 2, 2]), BATCH) is None
    assert equal_rows(torch.zeros(0, 2), BATCH) is None


def test_a_slice_is_told_by_its_memory() -> None:
    log = BatchLog()
    log.add(BATCH)
    assert known_rows(Y[2:4], log, BATCH) == HeldRows((2, 3), 6)


def test_rows_of_another_batch_are_known_by_their_values_alone() -> None:
    log, later = BatchLog(), a_batch([X + 4, Y + 7])
    log.add(BATCH)
    log.add(later)
    assert known_rows(X[2:4], log, later) == HeldRows((0, 1), 6)
    assert known_rows(X[:1], log, later) is None
