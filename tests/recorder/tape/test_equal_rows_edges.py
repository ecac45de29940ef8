"""Which leaves are compared with a tensor, which of several is meant, and what cannot be laid side by side."""

from __future__ import annotations

import pytest
import torch

from debugtracer.recorder.tape.equal_rows import comparable, equal_rows, repeated
from debugtracer.recorder.tape.held_rows import OTHER, HeldRows
from tests.recorder.tape.test_batches import a_batch

# the limits as they are promised
MOST = 262_144

X = torch.arange(12.0).reshape(6, 2)


def batch_of(leaves, rows=6):
    made = a_batch(leaves)
    made.rows = rows
    return made


@pytest.mark.parametrize("rows", [None, 0, 5])
def test_a_leaf_without_the_rows_of_the_batch_is_not_compared(rows):
    assert equal_rows(X[1:3], batch_of([X], rows)) is None


def test_a_number_beside_the_batch_is_not_compared():
    assert equal_rows(X[1:3], batch_of([torch.tensor(3.0), X])) == HeldRows((1, 2), 6)


@pytest.mark.parametrize("given", [torch.tensor([0.0, 1.0, 2.0]), torch.cat([X, X[:1]])])
def test_a_part_of_a_row_or_more_rows_than_there_are_is_no_copy(given):
    assert equal_rows(given, batch_of([X])) is None


def test_the_leaf_that_tells_most_rows_is_meant():
    vague, exact = torch.tensor([1.0, 1.0, 2.0, 2.0, 3.0, 4.0]), torch.tensor([1.0, 2.0, 9.0, 8.0, 7.0, 6.0])
    taken = torch.tensor([2.0, 1.0])
    for leaves in ([vague, exact], [exact, vague]):
        assert equal_rows(taken, batch_of(leaves)) == HeldRows((1, 0), 6)
    assert equal_rows(taken, batch_of([vague])) == HeldRows((OTHER, OTHER), 6)
    first = torch.tensor([1.0, 2.0, 5.0, 5.0, 5.0, 5.0])
    second = torch.tensor([5.0, 5.0, 5.0, 5.0, 1.0, 2.0])
    assert equal_rows(taken, batch_of([first, second])) == HeldRows((1, 0), 6)
    assert equal_rows(taken, batch_of([second, first])) == HeldRows((5, 4), 6)


@pytest.mark.parametrize("given", [X, X.to_sparse()])
@pytest.mark.parametrize("leaf", [X, X.to_sparse()])
def test_only_dense_tensors_are_compared(given, leaf):
    assert comparable(given, leaf) is (given.layout == leaf.layout == torch.strided)


def test_neither_is_a_tensor_of_a_device_a_nested_one_or_a_complex_one():
    assert not comparable(X.to("meta"), X) and not comparable(X, X.to("meta"))
    nested = torch.nested.nested_tensor([torch.ones(1), torch.ones(2)])
    assert not comparable(nested, X) and not comparable(X, nested)
    assert not comparable(X.to(torch.complex64), X) and not comparable(X, X.to(torch.complex64))


def test_neither_is_an_empty_one_nor_a_leaf_that_is_too_large():
    assert not comparable(X[:0], X) and not comparable(X, X[:0])
    large = torch.zeros(1).expand(MOST)
    assert comparable(X, large) and comparable(large, X)
    assert not comparable(X, torch.zeros(1).expand(MOST + 1)) and comparable(torch.zeros(1).expand(MOST + 1), X)


def test_rows_are_taken_each_once():
    known = [(1.0,), (2.0,), (2.0,)]
    assert repeated([(2.0,), (2.0,), (1.0,)], known) == [OTHER, OTHER, 0]
    assert repeated([(1.0,), (1.0,)], known) is None and repeated([(3.0,)], known) is None
    assert repeated(list(known), known) == [0, 1, 2]
