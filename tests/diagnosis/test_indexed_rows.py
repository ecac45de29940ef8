"""The samples of a batch that the loop took by an index."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from debugtracer.diagnosis.indexed_rows import maker
from debugtracer.recorder.tape.entry import Entry, Leaf, Slot
from tests.watching import incidents, under_watch

BAD = 37
PARTS: dict[int, tuple[torch.Tensor, ...]] = {}


def sliced(x, order, at):
    rows = order[at : at + 8]
    return x[rows]


def split(x, order, at):
    return x[PARTS.setdefault(id(order), order.split(8))[at // 8]]


def selected(x, order, at):
    return x.index_select(0, order[at : at + 8])


def halved(x, order, at):
    return x[order[at : at + 8]] / 2


def computed(x, order, at):
    return x[(order + 0)[at : at + 8]]


def plain(x, order, at):
    return x[at : at + 8]


class Root(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(4, 1)

    def forward(self, x):
        return self.head(torch.sqrt(x.amax(1, keepdim=True) * 0 + x))


def run(out, take):
    x = torch.rand(64, 4, generator=torch.Generator().manual_seed(0))
    x[BAD, 2] = -1.0
    torch.manual_seed(0)
    model = Root()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    order = torch.randperm(64)
    with under_watch(out):
        for at in range(0, 64, 8):
            optimizer.zero_grad()
            model(take(x, order, at)).square().mean().backward()
            optimizer.step()
    facts = incidents(out)[0].facts
    return facts.sample_index, facts.batch_rows, order


@pytest.mark.parametrize("take", [sliced, split, selected])
def test_the_row_of_the_data_is_named(tmp_path, take):
    samples, rows, order = run(tmp_path, take)
    assert samples == (BAD,)
    assert rows == (int((order == BAD).nonzero()) % 8,)


@pytest.mark.parametrize("take", [halved, plain, computed])
def test_what_was_computed_or_sliced_has_no_number_of_its_own(tmp_path, take):
    assert run(tmp_path, take)[0] is None


def test_rows_that_the_step_itself_draws_are_known_too(tmp_path):
    samples, rows, _ = run(tmp_path, lambda x, order, at: x[torch.randint(BAD, BAD + 1, (8,))])
    assert (samples, len(rows)) == ((BAD,), 8)


@pytest.mark.parametrize(
    ("value", "is_made"),
    [
        (Slot(0, 0, 0), True),
        (Slot(0, 1, 0), False),  # a module made it
        (Slot(0, 0, 1), False),  # one of several outputs
        (Slot(1, 0, 0), False),  # of another step
        (Slot(0, 2, 0), False),
        (Slot(0, -1, 0), False),
        (Leaf(torch.ones(2)), False),
    ],
)
def test_a_value_was_made_by_a_function_of_this_step(value, is_made):
    entries = [Entry("fn", torch.neg, (), {}, ()), Entry("module", torch.neg, (), {}, ())]
    assert maker(entries, value) is (entries[0] if is_made else None)
