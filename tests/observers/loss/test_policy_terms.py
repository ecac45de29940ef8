"""Terms of losses of policies, in real sessions."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.distributions import Categorical, Normal
from torch.nn import functional as F

from debugtracer import session
from debugtracer.trace.facts.policy_term import PolicyTerm
from tests.observers.told import facts, findings
from tests.watching import under_watch


@pytest.fixture(autouse=True)
def _left_alone():
    yield
    session.stop()


def train(out, make, maximize=False):
    """A few updates of an actor and a critic by the loss that is made of a policy, values, actions and returns."""
    torch.manual_seed(0)
    actor, critic = nn.Linear(4, 3), nn.Linear(4, 1)
    optimizer = torch.optim.SGD([*actor.parameters(), *critic.parameters()], lr=1e-3, maximize=maximize)
    with under_watch(out):
        for _ in range(4):
            state = torch.randn(16, 4)
            loss = make(actor(state), critic(state).squeeze(-1), torch.randn(16))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return {fact.term for fact in facts(out, PolicyTerm)}, findings(out, "policy-term-wrong")


def policy_loss(scores, advantage):
    policy = Categorical(logits=scores)
    return -(policy.log_prob(policy.sample()) * advantage).mean()


def added(scores, values, returns):
    return policy_loss(scores, (returns - values).detach()) + 0.01 * Categorical(logits=scores).entropy().mean()


def added_to_ratios(scores, values, returns):
    policy = Normal(scores, 0.5 + scores.detach() * 0 + 0 * scores.exp())
    new = policy.log_prob(scores.detach()).sum(-1)
    ratio, advantage = (new - new.detach()).exp(), (returns - values).detach()
    surrogate = torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage)
    return -surrogate.mean() + F.mse_loss(values, returns) + 0.01 * policy.entropy().mean()


def hanging(scores, values, returns):
    advantage = returns - values
    return policy_loss(scores, advantage) + 0.5 * advantage.pow(2).mean()


def hanging_normed(scores, values, returns):
    advantage = returns - values
    return policy_loss(scores, (advantage - advantage.mean()) / (advantage.std() + 1e-8)) + F.mse_loss(values, returns)


@pytest.mark.parametrize(
    ("make", "term"),
    [(added, "entropy"), (added_to_ratios, "entropy"), (hanging, "advantage"), (hanging_normed, "advantage")],
)
def test_a_term_that_pulls_the_wrong_way_is_told(tmp_path, make, term):
    found, said = train(tmp_path, make)
    assert found == {term}
    assert [f.severity for f in said] == ["warning"]


def subtracted(scores, values, returns):
    return hanging_nowhere(scores, values, returns) - 0.01 * Categorical(logits=scores).entropy().mean()


def hanging_nowhere(scores, values, returns):
    return policy_loss(scores, (returns - values).detach()) + F.mse_loss(values, returns)


def alone(scores, values, returns):
    """The gradient that it leaves in the critic is no other term's matter."""
    return policy_loss(scores, returns - values)


def likelihood(scores, values, returns):
    """A mixture is fitted, and is to be sure of its parts: no actions."""
    return -Categorical(logits=scores).log_prob(returns.abs().long().clamp(max=2)).mean() + 0.01 * entropy_of(scores)


def entropy_of(scores):
    return Categorical(logits=scores).entropy().mean()


def weighed(scores, values, returns):
    """A likelihood times a factor of focal loss."""
    log = Categorical(logits=scores).log_prob(torch.zeros(16))
    return -((1 - log.exp()) * log).mean() + F.mse_loss(values, returns)


@pytest.mark.parametrize("make", [subtracted, hanging_nowhere, alone, likelihood, weighed])
def test_other_losses_are_silent(tmp_path, make):
    assert train(tmp_path, make) == (set(), [])


def test_an_objective_that_is_made_to_rise_is_silent(tmp_path):
    assert train(tmp_path, lambda *given: -subtracted(*given), maximize=True) == (set(), [])
    session.stop()
    assert (
        train(tmp_path / "turned", lambda *given: -(-policy_loss(given[0], given[2]) + entropy_of(given[0])))[0]
        == set()
    )
