"""Positions that are read of an unpacked sequence, in real sessions."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from debugtracer import session
from debugtracer.trace.facts.read_padding import ReadPadding
from tests.observers.told import facts, findings
from tests.watching import under_watch

ROWS, STEPS = 8, 9


@pytest.fixture(autouse=True)
def _left_alone():
    yield
    session.stop()


class Net(nn.Module):
    def __init__(self, read, first):
        super().__init__()
        self.read, self.first = read, first
        self.rnn, self.out = nn.GRU(3, 4, batch_first=first), nn.Linear(4, 2)

    def forward(self, x, lengths):
        packed = pack_padded_sequence(x, lengths, batch_first=self.first, enforce_sorted=False)
        packed, last = self.rnn(packed)
        states, _ = pad_packed_sequence(packed, batch_first=self.first)
        return self.out(self.read(states, last, lengths))


def run(folder, read, lengths=None, first=True):
    torch.manual_seed(0)
    net = Net(read, first)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    with under_watch(folder):
        for _ in range(4):
            long = (
                lengths if lengths is not None else torch.randint(2, STEPS, (ROWS,)).scatter(0, torch.tensor(1), STEPS)
            )
            x = torch.randn((ROWS, STEPS, 3) if first else (STEPS, ROWS, 3))
            optimizer.zero_grad()
            net(x, long).square().mean().backward()
            optimizer.step()
    return facts(folder, ReadPadding)


@pytest.mark.parametrize("first", [True, False])
def test_the_last_position_is_behind_the_end_of_shorter_rows(tmp_path, first):
    found = run(tmp_path, lambda h, last, n: h[:, -1] if first else h[-1], first=first)
    assert {(f.place, f.positions, f.rows, f.inside, f.packed) for f in found} == {(8, 9, 8, 7, True)}
    (told,) = findings(tmp_path, "model/padding-read")
    assert "holds what pad_packed_sequence fills up with in 88 % of the rows (7 of 8)" in told.message


@pytest.mark.parametrize(
    "read",
    [
        lambda h, last, n: last[-1],
        lambda h, last, n: h[torch.arange(ROWS), n - 1],
        lambda h, last, n: h[:, 0],
        lambda h, last, n: h.sum(1),
        lambda h, last, n: h[:, -1] + h[:, 0],  # not one position alone
    ],
)
def test_states_that_are_there_are_quiet(tmp_path, read):
    assert run(tmp_path, read) == []


def test_rows_of_one_length_are_quiet(tmp_path):
    assert run(tmp_path, lambda h, last, n: h[:, -1], torch.full((ROWS,), STEPS)) == []


def test_lengths_themselves_are_one_too_far(tmp_path):
    found = run(tmp_path, lambda h, last, n: h[torch.arange(ROWS), n.clamp(max=STEPS - 1)])
    assert {(f.place, f.inside, float(f.gap)) for f in found} == {(None, 7, 1.0)}


def test_a_step_that_was_missed_is_forgotten(tmp_path):
    net = Net(lambda h, last, n: h[:, -1], True)
    with under_watch(tmp_path) as session:
        observer = session.dispatcher.observers["packed-ends"]
        out = net(torch.randn(ROWS, STEPS, 3), torch.randint(2, STEPS, (ROWS,)))
        assert out.requires_grad and observer.known and observer.reads
        session.dispatcher.missed()
        assert not observer.known and not observer.reads
