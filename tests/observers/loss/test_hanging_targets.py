"""Targets that hang on the graph of what is fitted to them, in real sessions."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from debugtracer import session
from debugtracer.observers.loss.hanging_targets import ComparedTarget
from debugtracer.trace.facts.policy_term import PolicyTerm
from tests.observers.told import facts, findings
from tests.watching import under_watch


@pytest.fixture(autouse=True)
def _left_alone():
    yield
    session.stop()


def train(out, make):
    """A few updates of values of actions by the loss that is made of two networks, states, actions, rewards, ends."""
    torch.manual_seed(0)
    q, other = nn.Linear(4, 3), nn.Linear(4, 3)
    with under_watch(out):
        optimizer = torch.optim.SGD(q.parameters(), lr=1e-3)
        for _ in range(4):
            state, after = torch.randn(2, 16, 4)
            done = (torch.arange(16) % 5 == 0).float()
            loss = make(q, other, state, after, torch.randint(3, (16, 1)), torch.randn(16), done)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return facts(out, PolicyTerm), findings(out, "policy-term-wrong")


def fitted(q, other, state, after, action, reward, done):
    said = q(state).gather(1, action).squeeze(1)
    target = reward + 0.99 * q(after).max(1)[0] * (1 - done)
    return F.mse_loss(said, target)


def doubled(q, other, state, after, action, reward, done):
    best = q(after).gather(1, q(after).argmax(1, keepdim=True)).squeeze(1)
    delta = reward + (1 - done) * 0.99 * best - q(state).gather(1, action).squeeze(1)
    return delta.pow(2).mean()


def valued(q, other, state, after, action, reward, done):
    said, then = q(state).mean(1), q(after).mean(1)
    return F.smooth_l1_loss(said, reward + 0.9 * (then * (1 - done)))


@pytest.mark.parametrize("make", [fitted, doubled, valued])
def test_a_target_with_a_graph_is_told(tmp_path, make):
    (fact, *_), said = train(tmp_path, make)
    assert (fact.term, fact.parameters) == ("target", 2)
    assert fact.frame.code.split(" ")[0] in ("target", "delta", "return")
    assert [f.severity for f in said] == ["warning"]


def detached(q, other, state, after, action, reward, done):
    target = reward + 0.99 * q(after).max(1)[0] * (1 - done)
    return F.mse_loss(q(state).gather(1, action).squeeze(1), target.detach())


def without_graph(q, other, state, after, action, reward, done):
    with torch.no_grad():
        target = reward + 0.99 * q(after).max(1)[0] * (1 - done)
    return F.mse_loss(q(state).gather(1, action).squeeze(1), target)


def copied(q, other, state, after, action, reward, done):
    """The gradient of the other network is of no use, and does no harm."""
    return F.mse_loss(q(state).gather(1, action).squeeze(1), reward + 0.99 * other(after).max(1)[0] * (1 - done))


def residual(q, other, state, after, action, reward, done):
    """A step of an equation in time, both of whose sides are fitted: no action is chosen, no row is left out."""
    return F.mse_loss(q(after).mean(1), reward + 0.1 * q(state).mean(1))


def views(q, other, state, after, action, reward, done):
    return F.mse_loss(q(state), q(after)) + F.mse_loss(q(state), q(after) + 0.1 * q(state))


@pytest.mark.parametrize("make", [detached, without_graph, copied, residual, views])
def test_a_number_and_two_sides_that_are_meant_to_move_are_silent(tmp_path, make):
    found, said = train(tmp_path, make)
    assert (found, said) == ([], [])


def test_a_step_that_was_not_seen_to_its_end_is_forgotten(tmp_path):
    with under_watch(tmp_path) as session:
        observer = session.dispatcher.observers["hanging-targets"]
        observer.compared.append(ComparedTarget(1, frozenset(), (), ()))
        session.dispatcher.missed()
        assert observer.compared == []
