"""From the entries of a step to the index that its rows were taken by, entry by entry."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from debugtracer.diagnosis.indexed_rows import index_of, indexed_rows, value_of
from debugtracer.recorder.tape.entry import Entry, Leaf, Slot

DATA, ROWS = torch.arange(12.0).reshape(6, 2), torch.tensor([4, 2, 2])


def call(function, *args, kind="fn", kwargs=None, segment=0) -> Entry:
    entry = Entry(kind, function, args, {} if kwargs is None else kwargs, None)
    entry.segment = segment
    return entry


def took(index=ROWS, data=None) -> Entry:
    return call(Tensor.__getitem__, Leaf(DATA) if data is None else data, Leaf(index))


def model(*args, grad=True, **kwargs) -> Entry:
    entry = call(None, *args, kind="module", kwargs=kwargs)
    entry.grad = grad
    return entry


def at(number: int, output: int = 0, segment: int = 0) -> Slot:
    return Slot(segment, number, output)


def test_rows_of_the_last_model_are_numbered_in_its_data():
    entries = [took(), model(at(0))]
    assert indexed_rows(entries, None, (0, 2, 1)) == (4, 2)
    assert indexed_rows(entries, 1, (0,)) == (4,)
    assert indexed_rows([took(), model(x=at(0))], None, (0,)) == (4,)


def test_only_what_was_called_up_to_the_birth_counts():
    entries = [took(), model(at(0)), took(torch.tensor([5, 1])), model(at(2))]
    assert indexed_rows(entries, 1, (0,)) == (4,) and indexed_rows(entries, 2, (0,)) == (4,)
    assert indexed_rows(entries, 3, (0,)) == (5,) and indexed_rows(entries, None, (0,)) == (5,)
    assert indexed_rows(entries, 0, (0,)) is None


@pytest.mark.parametrize("rows", [(), (3,), (0, 3), (-1,)])
def test_no_row_or_one_outside_the_index_has_no_number(rows):
    assert indexed_rows([took(), model(at(0))], None, rows) is None


def test_a_model_called_without_gradients_is_not_the_one():
    assert indexed_rows([took(), model(at(0), grad=False)], None, (0,)) is None
    entries = [took(), model(at(0)), took(torch.tensor([5])), model(at(2), grad=False)]
    assert indexed_rows(entries, None, (0,)) == (4,)


def test_two_inputs_must_have_been_taken_by_the_same_index():
    same = [took(), took(ROWS.clone()), model(at(0), at(1), 3)]
    other = [took(), took(torch.tensor([4, 2, 3])), model(at(0), at(1))]
    assert indexed_rows(same, None, (0,)) == (4,) and indexed_rows(other, None, (0,)) is None
    assert indexed_rows([model(Leaf(DATA))], None, (0,)) is None


def select(*args):
    return call(torch.index_select, *args)


@pytest.mark.parametrize(
    ("entry", "known"),
    [
        (took(), True),
        (select(Leaf(DATA), 0, Leaf(ROWS)), True),
        (select(Leaf(DATA), 1, Leaf(ROWS)), False),
        (select(Leaf(DATA), 0), False),
        (call(torch.gather, Leaf(DATA), 0, Leaf(ROWS)), False),
        (call(Tensor.__getitem__, Leaf(DATA)), False),
        (call(Tensor.__getitem__, Leaf(DATA), 0, Leaf(ROWS)), False),
        (took(data=at(0)), False),
        (took(ROWS.int()), True),
        (took(torch.tensor([True, False])), False),
        (took(ROWS.reshape(3, 1)), False),
        (call(Tensor.__getitem__, Leaf(DATA), 3), False),
    ],
)
def test_only_whole_numbers_along_the_first_dimension_of_a_tensor_from_outside_are_an_index(entry, known):
    assert (index_of([entry], at(0)) is not None) is known


@pytest.mark.parametrize("value", [at(1), at(-1), at(0, output=1), at(0, segment=1), "x", Leaf(ROWS)])
def test_what_no_function_of_the_step_gave_as_its_only_result_was_taken_by_nothing(value):
    assert index_of([took()], value) is None
    assert index_of([model(Leaf(DATA))], at(0)) is None


def test_the_index_may_be_a_slice_of_one():
    cut = call(Tensor.__getitem__, Leaf(ROWS), slice(1, None))
    assert value_of([cut], at(0), 1).tolist() == [2, 2]
    assert value_of([cut], at(0), 0) is None
    assert value_of([call(Tensor.__getitem__, Leaf(ROWS), 1)], at(0), 1) is None
    assert value_of([call(Tensor.__getitem__, Leaf(ROWS), slice(True, None))], at(0), 1) is None
    assert value_of([call(Tensor.__getitem__, Leaf(ROWS), slice(0, 2, 1))], at(0), 1).tolist() == [4, 2]
    assert value_of([call(Tensor.__getitem__, Leaf(torch.tensor(3)), slice(0, 2))], at(0), 1) is None
    assert value_of([call(torch.neg, Leaf(ROWS), slice(0, 2))], at(0), 1) is None


def test_what_the_step_drew_itself_is_known():
    drawn = call(torch.randint, Leaf(DATA), Leaf(ROWS), kind="const")
    assert value_of([drawn], at(0, output=1), 0).tolist() == ROWS.tolist()
    assert value_of([drawn], at(1), 0) is None and value_of([drawn], at(-1), 0) is None


def test_an_index_that_was_written_since_is_not_what_it_was():
    index = ROWS.clone()
    leaf = Leaf(index)
    index[0] = 0
    assert value_of([], leaf, 0) is None
    leaf.saved = ROWS
    assert index_of([took()], at(0)) is not None
