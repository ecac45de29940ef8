"""The lengths that rows are packed by, in real sessions."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence

from debugtracer import session
from debugtracer.trace.facts.other_lengths import OtherLengths
from tests.observers.told import facts, findings
from tests.watching import under_watch

ROWS, STEPS = 8, 9


@pytest.fixture(autouse=True)
def _left_alone():
    yield
    session.stop()


def sorted_alone(x, lengths):
    return pack_padded_sequence(x, lengths.sort(descending=True).values, batch_first=True)


def shuffled_alone(x, lengths):
    return pack_padded_sequence(x, lengths.roll(1), batch_first=True, enforce_sorted=False)


def time_first(x, lengths):
    return pack_padded_sequence(x.transpose(0, 1), lengths.sort(descending=True).values)


def sorted_both(x, lengths):
    lengths, order = lengths.sort(descending=True)
    return pack_padded_sequence(x[order], lengths, batch_first=True)


def as_they_are(x, lengths):
    return pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)


def a_step_short(x, lengths):
    return pack_padded_sequence(x, lengths - 1, batch_first=True, enforce_sorted=False)


def not_padded(x, lengths):
    return pack_padded_sequence(x + 1, lengths.sort(descending=True).values, batch_first=True)


def run(folder, pack):
    torch.manual_seed(0)
    lengths = torch.tensor([2, 9, 3, 7, 7, 5, 4, 8])
    rnn = nn.GRU(3, 4, batch_first=pack is not time_first)
    optimizer = torch.optim.SGD(rnn.parameters(), lr=0.01)
    with under_watch(folder):
        for _ in range(4):
            x = torch.randn(ROWS, STEPS, 3) * (torch.arange(STEPS) < lengths[:, None])[:, :, None]
            optimizer.zero_grad()
            rnn(pack(x, lengths))[1].square().mean().backward()
            optimizer.step()
    return facts(folder, OtherLengths)


@pytest.mark.parametrize("pack", [sorted_alone, shuffled_alone, time_first])
def test_lengths_of_other_rows(tmp_path, pack):
    found = run(tmp_path, pack)
    assert found and all(fact.rows == ROWS and fact.differ >= 6 for fact in found)
    assert {fact.frame.function for fact in found} == {pack.__name__}
    assert len(findings(tmp_path, "model/lengths-misaligned")) == 1


@pytest.mark.parametrize("pack", [sorted_both, as_they_are, a_step_short, not_padded])
def test_rows_with_their_own_lengths_are_quiet(tmp_path, pack):
    assert run(tmp_path, pack) == []
