"""The clipped and the unclipped term of a policy's loss, in real sessions."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.distributions import Categorical
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
    """A few updates of a policy by the loss that is made of a ratio and advantages."""
    torch.manual_seed(0)
    actor = nn.Linear(4, 3)
    with under_watch(out):
        optimizer = torch.optim.SGD(actor.parameters(), lr=1e-3, maximize=maximize)
        for _ in range(4):
            policy = Categorical(logits=actor(torch.randn(16, 4)))
            new = policy.log_prob(policy.sample())
            loss = make((new - new.detach() + 0.3 * torch.randn(16)).exp(), torch.randn(16))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return [(fact.term, fact.taken) for fact in facts(out, PolicyTerm)][:1], findings(out, "policy-term-wrong")


def larger(ratio, advantage):
    surr1, surr2 = ratio * advantage, torch.clamp(ratio, 0.8, 1.2) * advantage
    return -torch.max(surr1, surr2).mean()


def smaller(ratio, advantage):
    return torch.min(-advantage * ratio, -advantage * ratio.clip(min=0.8, max=1.2)).mean()


def smaller_masked(ratio, advantage):
    mask = torch.arange(16) < 12
    return (torch.minimum(-advantage * ratio, -advantage * ratio.clamp(0.8, 1.2)) * mask).sum() / mask.sum()


@pytest.mark.parametrize(("make", "taken"), [(larger, "larger"), (smaller, "smaller"), (smaller_masked, "smaller")])
def test_the_term_that_makes_the_loss_smaller_is_told(tmp_path, make, taken):
    found, said = train(tmp_path, make)
    assert found == [("surrogate", taken)]
    assert [f.severity for f in said] == ["warning"]


def meant(ratio, advantage):
    return -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()


def meant_inside(ratio, advantage):
    return torch.max(-advantage * ratio, -advantage * torch.clamp(ratio, 0.8, 1.2)).mean() + 0.1 * ratio.mean()


def clipped_values(values, returns):
    """Of two squares the larger one is taken, with its own sign."""
    clipped = values.detach() + (values - values.detach()).clamp(-0.2, 0.2)
    return torch.max(F.mse_loss(values, returns, reduction="none"), (clipped - returns).pow(2)).mean()


def two_weights(ratio, advantage):
    """Not the same advantage: no pair."""
    return -torch.max(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage.abs()).mean()


@pytest.mark.parametrize("make", [meant, meant_inside, clipped_values, two_weights])
def test_the_other_term_and_other_pairs_are_silent(tmp_path, make):
    assert train(tmp_path, make) == ([], [])


def test_an_optimizer_that_climbs_is_silent(tmp_path):
    assert train(tmp_path, larger, maximize=True) == ([], [])


def test_a_step_that_was_not_seen_to_its_end_is_forgotten(tmp_path):
    with under_watch(tmp_path) as session:
        observer = session.dispatcher.observers["clipped-surrogates"]
        observer.choices[3] = "larger", ()
        session.dispatcher.missed()
        assert observer.choices == {}
