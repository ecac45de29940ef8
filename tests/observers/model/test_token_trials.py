"""What is a text, what is its next token, and how its tokens are exchanged."""

from __future__ import annotations

import torch

from debugtracer.observers.model.token_trials import (
    by_position,
    further_token,
    next_token,
    same_token,
    texts,
    with_other,
)


def test_what_is_a_next_token_target():
    text = torch.randint(0, 50, (3, 9))
    masked = text[:, 1:].clone()
    masked[:, :4] = -100
    assert next_token(text[:, :-1], text[:, 1:]) is not None
    assert next_token(text, text[:, 1:].flatten()) is not None
    assert int(next_token(text[:, :-1], masked).sum()) == 3 * 3
    assert next_token(text, text) is None
    assert next_token(text, torch.randint(0, 2, (3,))) is None


def test_targets_of_some_positions_alone():
    text = torch.randint(0, 50, (3, 33))
    last = next_token(text[:, :-1], text[:, 13:].flatten())  # a history of 12
    assert last.any(0).nonzero().flatten().tolist() == list(range(12, 31))
    inside = next_token(text, text[:, 13:].flatten())
    assert inside.any(0).nonzero().flatten().tolist() == list(range(12, 32))
    first = next_token(text, text[:, 1:12].flatten())
    assert first.any(0).nonzero().flatten().tolist() == list(range(11))
    assert next_token(text, text[:, 5:16].flatten()) is None
    assert next_token(text, torch.randint(0, 50, (30,))) is None


def test_labels_of_one_class_are_no_padding():
    short = torch.randint(1, 50, (3, 24))
    short[:, 10:] = 0
    assert next_token(short, torch.zeros(30, dtype=torch.long)) is None


def test_labels_masks_and_short_inputs_are_no_texts():
    text = torch.randint(0, 9, (2, 6))
    given = {
        "input_ids": text,
        "labels": text,
        "attention_mask": torch.ones(2, 6, dtype=torch.bool),
        "pairs": text[:, :2],
        "weights": torch.rand(2, 6),
    }
    assert [v is text for v in texts((), given)] == [True]


def test_targets_that_are_the_tokens_themselves():
    text = torch.randint(0, 50, (3, 9))
    few, short = torch.full_like(text, -100), torch.full_like(text, -1)
    few[:, 4:6], short[:, :4] = text[:, 4:6], text[:, :4]
    assert same_token(text, text.flatten())
    assert same_token(text, short)  # the rest of a short text is padding
    assert not same_token(text, few)
    assert not same_token(text[:, :-1], text[:, 1:])


def test_targets_that_are_further_on_than_the_next_token():
    text = torch.randint(0, 50, (3, 12))
    assert further_token(text[:, :9], text[:, 2:11]) == 2
    assert further_token(text[:, :9], text[:, 3:].flatten()) == 3
    assert further_token(text[:, :9], text[:, 1:10]) == 0
    assert further_token(text, text) == 0
    padded, wanted = text[:, :9].clone(), text[:, 2:11].clone()
    padded[:, 6:], wanted[:, 6:] = 0, -100
    assert further_token(padded, wanted) == 2
    assert further_token(torch.ones(3, 12, dtype=torch.long), torch.ones(3, 12, dtype=torch.long)) == 0
    assert further_token(text, torch.randint(0, 50, (3, 12))) == 0


def test_tokens_are_exchanged_where_asked_and_only_there():
    text = torch.arange(24).reshape(3, 8)
    (other,), kwargs = with_other((text,), {"n": 1}, text, slice(4, None))
    assert torch.equal(other[:, :4], text[:, :4])
    assert bool((other[:, 4:] != text[:, 4:]).all())
    assert set(other.flatten().tolist()) <= set(text.flatten().tolist())
    assert kwargs == {"n": 1}


def test_outputs_by_position():
    assert by_position(torch.zeros(2, 5, 7), 2, 5).shape == (2, 5, 7)
    assert by_position(torch.zeros(5, 2, 7), 2, 5).shape == (2, 5, 7)
    assert by_position(torch.zeros(2, 7, 5), 2, 5).shape == (2, 5, 7)
    assert by_position(torch.zeros(10, 7), 2, 5).shape == (2, 5, 7)
    assert by_position(torch.zeros(2, 7), 2, 5) is None
