"""Recurrent layers of a real session: whose state do they begin a batch with?"""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from debugtracer.observers.model.carried_states import goes_on
from debugtracer.trace.facts.carried_state import CarriedState
from tests.observers.told import facts, findings
from tests.watching import under_watch


class Model(nn.Module):
    def __init__(self, kind=nn.GRU):
        super().__init__()
        self.steps, self.out = kind(3, 5, batch_first=True), nn.Linear(5, 1)

    def forward(self, x, state=None):
        told, state = self.steps(x, state)
        return self.out(told[:, -1]), state


class Keeping(Model):
    kept = None

    def forward(self, x, state=None):
        told, state = self.steps(x, self.kept)
        self.kept = state.detach()
        return self.out(told[:, -1]), state


class Cells(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.out = nn.GRUCell(3, 5), nn.Linear(5, 1)

    def forward(self, x, state=None):
        for at in range(x.shape[1]):
            state = self.cell(x[:, at], state)
        return self.out(state), state


def detached(state):
    return tuple(part.detach() for part in state) if isinstance(state, tuple) else state.detach()


def train(out, model, carry=True, shuffle=True, halves=False):
    torch.manual_seed(3)
    loader = DataLoader(TensorDataset(torch.randn(32, 4, 3), torch.randn(32, 1)), batch_size=8, shuffle=shuffle)
    with under_watch(out):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        state = None
        for x, y in loader:
            if halves:
                _, state = model(x[:, :2])
                answer, _ = model(x[:, 2:], detached(state))
            else:
                answer, state = model(x, detached(state) if state is not None and carry else None)
            loss = (answer - y).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return facts(out, CarriedState), findings(out, "state-carried")


@pytest.mark.parametrize("model", [Model(), Model(nn.LSTM), Model(nn.RNN), Cells()], ids=["gru", "lstm", "rnn", "cell"])
def test_a_state_of_other_samples_is_told_at_the_line_that_hands_it_on(tmp_path, model):
    found, (finding,) = train(tmp_path, model)
    assert len(found) == 2 and {f.rows for f in found} == {8}
    assert finding.place.frame.code.startswith("answer, state = model(x, detached(state)")
    assert finding.place.symptom_frame.function.endswith(".forward")


def test_a_state_that_the_model_keeps_is_told_where_it_is_kept(tmp_path):
    _, (finding,) = train(tmp_path, Keeping(), carry=False)
    assert finding.place.frame.code == "self.kept = state.detach()"


@pytest.mark.parametrize("given", [{"carry": False}, {"shuffle": False}, {"halves": True}], ids=str)
def test_states_that_belong_to_their_rows_are_left_alone(tmp_path, given):
    assert train(tmp_path, Model(), **given) == ([], [])


def test_streams_go_on_in_all_rows():
    assert goes_on((0, 10, 20), (1, 11, 21)) and goes_on((0, 1), (2, 3))
    assert not goes_on((0, 10), (11, 1)) and not goes_on((0, 1), (2,))
