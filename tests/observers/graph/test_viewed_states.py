"""Last states of recurrent layers that are viewed as rows of the batch, in real sessions."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from debugtracer import session
from debugtracer.trace.facts.permuted_view import PermutedView
from tests.observers.told import facts, findings
from tests.watching import under_watch


@pytest.fixture(autouse=True)
def _left_alone():
    yield
    session.stop()


class Reader(nn.Module):
    def __init__(self, kind, join):
        super().__init__()
        self.join = join
        self.read = kind(5, 6, batch_first=True, bidirectional=True)
        self.out = nn.Linear(12, 3)

    def forward(self, x):
        _, last = self.read(x)
        return self.out(self.join(last[0] if isinstance(last, tuple) else last))


def train(out, kind, join):
    torch.manual_seed(0)
    with under_watch(out):
        model = Reader(kind, join)
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
        for _ in range(4):
            optimizer.zero_grad()
            F.cross_entropy(model(torch.randn(8, 7, 5)), torch.randint(0, 3, (8,))).backward()
            optimizer.step()
    return [fact for fact in facts(out, PermutedView) if fact.layer], findings(out, "view-permuted")


@pytest.mark.parametrize(
    ("kind", "join", "layer"),
    [
        (nn.GRU, lambda h: h.view(8, -1), "gru"),
        (nn.LSTM, lambda h: h.reshape(8, 12), "lstm"),
        (nn.RNN, lambda h: torch.relu(h).view(-1, 12), "rnn_tanh"),
    ],
)
def test_states_that_are_viewed_as_rows_are_told(tmp_path, kind, join, layer):
    found, said = train(tmp_path, kind, join)
    assert [(f.layer, f.shape, f.result) for f in found] == [(layer, (2, 8, 6), (8, 12))]
    assert [f.severity for f in said] == ["warning"]


@pytest.mark.parametrize(
    "join",
    [
        lambda h: h.transpose(0, 1).reshape(8, -1),
        lambda h: torch.cat([h[0], h[1]], 1),
        lambda h: torch.cat([*h.view(1, 2, 8, 6)[-1]], 1),
        lambda h: h.permute(1, 0, 2).contiguous().view(8, 12),
    ],
)
def test_states_that_are_moved_or_joined_are_silent(tmp_path, join):
    assert train(tmp_path, nn.GRU, join) == ([], [])
