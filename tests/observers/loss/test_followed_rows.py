"""Rows that are taken by index, followed through conversions and a model."""

from __future__ import annotations

import numpy as np
import torch

from debugtracer.observers.loss.followed_rows import FollowedRows, rows_of, whole_rows

X = torch.randn(40, 4)


def taken(rows):
    followed, part = FollowedRows(), X[rows]
    followed.called("__getitem__", (X, rows), {}, part)
    return followed, part


def test_rows_are_known_with_what_they_were_taken_from():
    followed, part = taken(torch.tensor([3, 1, 4, 1]))
    known = followed.known(part)
    assert (known.rows.tolist(), known.length, known.store() is X) == ([3, 1, 4, 1], 40, True)


def test_what_is_made_of_rows_row_by_row_has_their_numbers():
    followed, part = taken(slice(0, 8))
    half, scores = part.half(), torch.randn(8, 2)
    followed.called("half", (part,), {}, half)
    followed.left((half,), {}, scores)
    assert followed.known(scores).rows.tolist() == list(range(8))
    followed.left((half, torch.randn(3)), {}, other := torch.randn(8, 2))
    assert followed.known(other) is None


def test_nothing_is_known_after_the_step_or_of_all_rows():
    followed, part = taken(slice(0, 8))
    followed.clear()
    assert followed.known(part) is None and len(followed) == 0
    followed, part = taken(slice(0, 40))
    assert followed.known(part) is None


def test_rows_of_an_index():
    assert rows_of(slice(2, 5), 9).tolist() == [2, 3, 4]
    assert rows_of((torch.tensor([3, -1]), slice(None)), 9).tolist() == [3, 8]
    assert rows_of(np.array([1, 0]), 9).tolist() == [1, 0]
    assert rows_of(torch.arange(3) != 1, 3).tolist() == [0, 2]
    assert rows_of([1, 2], 9).tolist() == [1, 2]
    others = (
        3,
        None,
        ...,
        (slice(0, 2), 1),
        torch.tensor([[0]]),
        slice(0, 0),
        np.int64(3),
        np.array(3),
        np.zeros((2, 1)),
    )
    assert [rows_of(index, 9) for index in others] == [None] * len(others)


def test_an_index_that_leaves_the_rows():
    assert all(whole_rows(i) for i in ((slice(None), 0), ..., slice(None)))
    assert not any(whole_rows(i) for i in (0, slice(0, 2), [1], (slice(1, None), 0)))
