"""Rows as columns of numbers."""

from __future__ import annotations

import torch

from debugtracer.observers.data.row_features import as_columns, as_features, is_picture, is_target, is_text


def test_classes_become_a_column_each_and_numbers_stay():
    assert as_columns(torch.tensor([2, 0, 2])).tolist() == [[1, 0], [0, 1], [1, 0]]
    assert as_columns(torch.tensor([[2.0], [0.5]])).tolist() == [[2.0], [0.5]]
    assert as_columns(torch.randn(4, 30)).shape[1] <= 8


def test_a_target_is_a_class_or_a_few_numbers_for_each_row():
    assert is_target(torch.arange(5)) and is_target(torch.randn(5, 2)) and is_target(torch.arange(5)[:, None])
    assert not is_target(torch.zeros(5, 3, dtype=torch.long)) and not is_target(torch.randn(5, 2, 2))
    assert not is_target(torch.tensor(1.0))


def test_pictures_are_pooled_and_texts_are_counted():
    picture, text, numbers = torch.randn(3, 1, 32, 32), torch.tensor([[1, 1, 2, 3, 3, 3]]), torch.randn(3, 10, 20)
    assert is_picture(picture) and not is_picture(numbers) and is_text(text) and not is_text(torch.arange(8)[:, None])
    assert as_features([picture]).shape == (3, 64)
    assert as_features([text])[0, :4].tolist() == [0, 2, 1, 3]
    assert as_features([numbers]).shape == (3, 200)


def test_inputs_stand_side_by_side_or_say_nothing():
    assert as_features([torch.randn(3, 2), torch.arange(3)]).shape == (3, 3)
    assert as_features([]) is None and as_features([torch.tensor(1.0)]) is None
