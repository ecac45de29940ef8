"""Numbers far outside of a column."""

from __future__ import annotations

import pytest
import torch

from debugtracer.observers.data.column_extremes import ColumnExtremes


def found(*batches):
    extremes = ColumnExtremes()
    seen = [(one.column, one.value, rows) for batch in batches for one, rows in extremes.look(batch)]
    return extremes, seen


def table(rows=20, columns=3):
    return torch.rand(rows, columns)


def put(values, places, value):
    for place in places:
        values[place] = value
    return values


def test_a_code_in_a_table_is_found_with_its_rows_and_leaves_the_range_alone():
    extremes, seen = found(put(table(), [(4, 1), (9, 1)], -99.0), table())
    assert seen == [(1, -99.0, [4, 9])]
    (one,) = extremes.found.values()
    assert (one.batches, one.rows, one.places, one.padded) == (1, 2, 2, False)
    assert extremes.is_far(one) and 0 <= extremes.range_of(one)[0] < 1
    assert (extremes.rows, extremes.looks) == (40, 2)


def test_above_all_others_and_one_number_a_row():
    assert found(put(torch.rand(20), [3], 500.0))[1] == [(None, 500.0, [3])]
    assert found(put(table(), [(3, 0)], 500.0))[1] == [(0, 500.0, [3])]


def test_twice_in_a_window_counts_and_once_in_many_does_not():
    twice, _ = found(put(torch.rand(8, 12, 2), [(1, 4, 0), (1, 7, 0)], -99.0))
    once, _ = found(put(torch.rand(8, 12, 2), [(1, 4, 0), (2, 3, 0), (3, 2, 0)], -99.0))
    assert [one.places for one in twice.found.values()] == [2]
    assert [one.places for one in once.found.values()] == [1]


def test_padding_at_an_end_is_known():
    windows = torch.rand(8, 12, 2)
    windows[2, 7:] = windows[5, 10:] = -99.0
    assert [(one.inside, one.places) for one in found(windows)[0].found.values()] == [(False, 0)] * 2
    sequences = torch.rand(8, 12)
    sequences[2, 7:] = -99.0
    assert all(one.padded for one in found(sequences)[0].found.values())


def test_a_later_batch_may_fill_the_gap():
    extremes, seen = found(put(table(), [(4, 1)], 99.0), put(table(), [(4, 1), (5, 1)], 50.0), table() * 60)
    assert [value for _, value, _ in seen] == [99.0, 50.0]
    assert not any(extremes.is_far(one) for one in extremes.found.values())


@pytest.mark.parametrize(
    "values",
    [
        torch.eye(20),
        torch.cat([torch.zeros(19, 1), torch.ones(1, 1)]) * 1000,
        (torch.rand(20, 3) > 0.9).float() * 40,
        torch.randn(400, 2).exp(),
        torch.full((20, 2), -1e9),
        torch.cat([torch.randint(3, (19, 1)).float(), torch.tensor([[1e6]])]),
        torch.cat([torch.rand(19, 1), torch.tensor([[float("inf")]])]),
    ],
    ids=["one-hot", "one flag", "sparse", "log-normal", "a mask", "few kinds", "infinite"],
)
def test_other_columns_are_left_alone(values):
    torch.manual_seed(0)
    assert found(values, values)[1] == []


def test_rows_that_all_hold_it_do_not_become_the_usual():
    extremes, _ = found(torch.rand(4, 6, 1), put(torch.rand(4, 6, 1), [(row, 2, 0) for row in range(4)], -99.0))
    assert float(extremes.low.min()) >= 0
