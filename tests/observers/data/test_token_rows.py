"""Padding and repetition in rows of token ids."""

from __future__ import annotations

import pytest
import torch

from debugtracer.observers.data.token_rows import is_padding_mask, lengths_of, pad_value, repeats


@pytest.mark.parametrize(
    ("mask", "yes"),
    [
        ([[1, 1, 0], [1, 1, 1]], True),
        ([[0, 1, 1], [1, 1, 1]], True),
        ([[0, 0, 0], [1, 1, 0]], True),
        ([[1, 0, 1], [1, 1, 1]], False),
        ([[0, 1, 0], [1, 1, 1]], False),
    ],
)
def test_a_padding_mask_is_one_block_at_an_end(mask, yes):
    assert is_padding_mask(torch.tensor(mask)) is yes


def test_padding_is_the_value_at_which_rows_end():
    ids = torch.tensor([[4, 5, 6, 0, 0, 0, 0, 0], [4, 5, 6, 7, 8, 0, 0, 0], [4, 5, 6, 7, 8, 9, 3, 2]])
    assert pad_value(ids) == 0
    assert lengths_of(ids, 0).tolist() == [3, 5, 8]
    assert lengths_of(torch.zeros(1, 4, dtype=torch.long), 0).tolist() == [0]


def test_full_rows_and_narrow_tables_are_not_padded():
    assert pad_value(torch.arange(32).reshape(4, 8)) is None
    assert pad_value(torch.zeros(4, 4, dtype=torch.long)) is None


def test_a_phrase_over_and_over_is_found_with_its_length():
    ids = torch.randint(0, 50, (4, 128), generator=torch.Generator().manual_seed(1))
    ids[2, :99] = torch.tensor([7, 8, 9]).repeat(33)
    (found,) = repeats(ids, None)
    assert (found.row, found.length) == (2, 3)
    assert found.share == pytest.approx(99 / 128, abs=0.03)


def test_31_times_are_not_enough_and_32_are():
    ids = torch.arange(200).repeat(2, 1)
    ids[0, :31], ids[1, :32] = 5, 5
    assert [one.row for one in repeats(ids, None)] == [1]


def test_padding_is_no_phrase():
    ids = torch.arange(64).repeat(2, 1)
    ids[:, 20:] = 0
    assert repeats(ids, None)
    assert not repeats(ids, torch.tensor([20, 20]))
