"""The term of a target that was stored without its last dimension."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from debugtracer.observers.loss.short_terms import short_term
from debugtracer.trace.events import Found
from tests.watching import events, under_watch


class Buffer:
    def __init__(self, size: int) -> None:
        self.state = torch.zeros((size, 3))
        self.done = torch.zeros((size, 1))
        self.reward = torch.zeros(size)

    def sample(self, n: int):
        rows = torch.randint(len(self.state), (n,))
        return tuple(one[rows] for one in (self.state, self.reward, self.done))


class Wide(Buffer):
    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.reward = torch.zeros((size, 1))


class Listed:
    def __init__(self, size: int) -> None:
        self.rows = [torch.randn(3) for _ in range(size)]

    def sample(self, n: int):
        reward = torch.stack([row[0] for row in self.rows[:n]])
        return torch.stack(self.rows[:n]), reward, torch.zeros(n, 1)


def target_in(buffer, rows: int = 8):
    state, reward, done = buffer.sample(rows)
    target = reward + (1 - done) * state.sum(1, keepdim=True)
    return short_term(target, rows)


def test_the_room_of_one_dimension_beside_columns():
    buffer = Buffer(32)
    found = target_in(buffer)
    assert found is not None
    assert (found.name, found.frame.code) == ("reward", "self.reward = torch.zeros(size)")


@pytest.mark.parametrize("buffer", [Wide(32), Listed(32)])
def test_columns_alone_and_what_has_no_room_of_its_own(buffer):
    assert target_in(buffer) is None


def test_the_verdict_is_at_the_room(tmp_path):
    torch.manual_seed(0)
    buffer, critic = Buffer(64), nn.Linear(3, 1)
    optimizer = torch.optim.SGD(critic.parameters(), lr=1e-3)
    with under_watch(tmp_path):
        for _ in range(3):
            state, reward, done = buffer.sample(8)
            target = reward + (1 - done) * 0.9
            loss = F.mse_loss(critic(state), target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    found = [e.finding for e in events(tmp_path) if isinstance(e, Found) and e.finding.check == "model/loss-broadcast"]
    assert found and found[0].place.frame.code == "self.reward = torch.zeros(size)"
    assert found[0].place.symptom_frame.code == "loss = F.mse_loss(critic(state), target)"
    assert "Make it (size, 1)" in found[0].message
