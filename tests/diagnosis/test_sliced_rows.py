"""The samples of a batch that the program cut from an order of its own."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from debugtracer.diagnosis.sliced_rows import sliced_rows
from tests.watching import incidents, under_watch

BAD = 23
SIZE = 6


class Root(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(3, 1)

    def forward(self, x):
        return self.head(x.log())


class Feed:
    """Batches of pictures as lists, in an order of its own."""

    def __init__(self, pictures, order):
        self.pictures, self.order = pictures, order

    def __iter__(self):
        for at in range(0, len(self.order), SIZE):
            chosen = [self.pictures[i] for i in self.order[at : at + SIZE]]
            yield torch.stack(chosen)


def cut_here(pictures, order):
    for at in range(0, len(order), SIZE):
        yield pictures[torch.as_tensor(order[at : at + SIZE])]


ORDERS = {
    "a list": lambda: np.random.default_rng(1).permutation(36).tolist(),
    "an array": lambda: np.random.default_rng(1).permutation(36),
    "a tensor": lambda: torch.randperm(36, generator=torch.Generator().manual_seed(1)),
}


@pytest.mark.parametrize("feed", [Feed, cut_here])
@pytest.mark.parametrize("order", ORDERS)
def test_the_sample_is_the_number_in_the_order(tmp_path, feed, order):
    pictures = torch.rand(36, 3, generator=torch.Generator().manual_seed(0)) + 0.1
    pictures[BAD, 1] = -1.0
    torch.manual_seed(0)
    model = Root()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with under_watch(tmp_path):
        for x in feed(pictures, ORDERS[order]()):
            optimizer.zero_grad()
            model(x).square().mean().backward()
            optimizer.step()
    assert incidents(tmp_path)[0].facts.sample_index == (BAD,)


def test_labels_that_repeat_and_parts_of_another_length_are_no_order():
    labels, order, at = [0, 1, 1, 0, 2, 1], [4, 1, 3, 0, 2, 5], 2
    assert labels[at : at + 2] == [1, 0] and order[at : at + 3] == [3, 0, 2]
    assert sliced_rows((0,), 2) is None
    assert sliced_rows((1,), 3) == (0,)
    assert sliced_rows((), 3) is None and sliced_rows((4,), 3) is None


def test_two_orders_that_differ_name_nobody():
    first, second, at = [4, 1, 3, 0, 2, 5], [0, 1, 2, 3, 4, 5], 2
    assert first[at : at + 3] != second[at : at + 3]
    assert sliced_rows((1,), 3) is None
