"""Facts about the mailbox: letters are read in the order they were sent, with the numbers they were sent with."""

from __future__ import annotations

import math

import torch

from debugtracer.recorder.gate.async_readback import AsyncReadback


def test_an_empty_box_gives_nothing() -> None:
    assert AsyncReadback().take() is None


def test_letters_come_in_their_order_with_their_context() -> None:
    box = AsyncReadback()
    for number in range(3):
        box.post(torch.tensor([float(number), 0.5]), f"step {number}")
    assert [box.take() for _ in range(4)] == [
        ([0.0, 0.5], "step 0"),
        ([1.0, 0.5], "step 1"),
        ([2.0, 0.5], "step 2"),
        None,
    ]


def test_what_is_written_after_the_post_is_not_read() -> None:
    box, values = AsyncReadback(), torch.ones(2)
    box.post(values, None)
    values.fill_(7)
    assert box.take() == ([1.0, 1.0], None)


def test_a_letter_holds_no_graph() -> None:
    box, w = AsyncReadback(), torch.ones(2, requires_grad=True)
    box.post(w * 2, None)
    assert not box.readbacks[0].values.requires_grad


def test_bad_numbers_arrive_as_they_are() -> None:
    box = AsyncReadback()
    box.post(torch.tensor([float("nan"), float("inf")], dtype=torch.float64), None)
    values, _ = box.take() or ([], None)
    assert math.isnan(values[0])
    assert values[1] == math.inf
