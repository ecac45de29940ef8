"""Ratios of new to old probabilities before any update."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn
from torch.distributions import Categorical

from debugtracer.trace.facts.policy_ratio import PolicyRatio
from tests.observers.told import facts, findings
from tests.watching import under_watch

STEPS, ROWS = 10, 6


class Policy(nn.Module):
    def __init__(self, drop=0.0):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Dropout(drop), nn.Linear(16, 4))

    def forward(self, seen):
        return self.body(seen)


def rollout(policy, of=lambda scores: Categorical(logits=scores)):
    seen, moves, logs = torch.randn(STEPS, ROWS, 3), torch.zeros(STEPS, ROWS), torch.zeros(STEPS, ROWS)
    for step in range(STEPS):
        with torch.no_grad():
            choice = of(policy(seen[step]))
            move = choice.sample()
            moves[step], logs[step] = move, choice.log_prob(move)
    return seen, moves, logs


def plain(policy):
    seen, moves, logs = rollout(policy)
    return Categorical(logits=policy(seen.flatten(0, 1))).log_prob(moves.flatten()) - logs.flatten()


def drawn_anew(policy):
    seen, _, logs = rollout(policy)
    choice = Categorical(logits=policy(seen.flatten(0, 1)))
    return choice.log_prob(choice.sample()) - logs.flatten()


def transposed(policy):
    seen, moves, logs = rollout(policy)
    return Categorical(logits=policy(seen.transpose(0, 1).flatten(0, 1))).log_prob(moves.flatten()) - logs.flatten()


def overwritten(policy):
    seen, moves, logs = rollout(policy)
    last = seen[-1:].expand(STEPS, ROWS, 3)
    return Categorical(logits=policy(last.flatten(0, 1))).log_prob(moves.flatten()) - logs.flatten()


def other_actions(policy):
    seen, moves, logs = rollout(policy)
    return Categorical(logits=policy(seen.flatten(0, 1))).log_prob(moves.roll(1, 0).flatten()) - logs.flatten()


def through_arrays(policy):
    seen, _, logs = rollout(policy)
    old = torch.as_tensor(logs.numpy().copy()).flatten()
    choice = Categorical(logits=policy(seen.flatten(0, 1)))
    return choice.log_prob(choice.sample()) - old


def of_a_copy(policy):
    seen, _, logs = rollout(copy.deepcopy(policy))
    choice = Categorical(logits=policy(seen.flatten(0, 1)))
    return choice.log_prob(choice.sample()) - logs.flatten()


def of_other_weights(policy):
    seen, moves, logs = rollout(Policy())
    return Categorical(logits=policy(seen.flatten(0, 1))).log_prob(moves.flatten()) - logs.flatten()


def hotter(policy):
    seen, moves, logs = rollout(policy, lambda scores: Categorical(logits=scores / 3))
    return Categorical(logits=policy(seen.flatten(0, 1))).log_prob(moves.flatten()) - logs.flatten()


def weights_written(policy):
    seen, moves, logs = rollout(policy)
    with torch.no_grad():
        policy.body[0].weight.mul_(0.5)
    return Categorical(logits=policy(seen.flatten(0, 1))).log_prob(moves.flatten()) - logs.flatten()


def against_itself(policy):
    scores = policy(torch.randn(8, 3))
    return scores - scores.detach().roll(1, 0)


def run(out, log_ratio, drop=0.0):
    torch.manual_seed(0)
    with under_watch(out):
        policy = Policy(drop)
        optimizer = torch.optim.SGD(policy.parameters(), lr=0.1)
        for _ in range(2):
            ratio = log_ratio(policy).exp()
            optimizer.zero_grad()
            (-ratio * torch.randn_like(ratio)).mean().backward()
            optimizer.step()
    return facts(out, PolicyRatio), findings(out, "model/policy-ratio")


@pytest.mark.parametrize(
    ("log_ratio", "words"),
    [
        (drawn_anew, "The actions were drawn anew"),
        (transposed, "The policy is given observations that it was given before"),
        (overwritten, "The policy is given observations that it was given before"),
        (other_actions, "The observations are the same, the actions are not those taken"),
        (through_arrays, "The actions were drawn anew"),
        (of_a_copy, "The actions were drawn anew"),
    ],
)
def test_ratios_that_are_not_1_are_told(tmp_path, log_ratio, words):
    told, found = run(tmp_path, log_ratio)
    assert told[0].off > 0.1 * told[0].compared
    assert words in found[0].message and log_ratio.__name__ == found[0].place.frame.function


def test_weights_that_the_loop_writes_itself_are_others_after_a_backward(tmp_path):
    torch.manual_seed(0)
    with under_watch(tmp_path):
        policy = Policy()
        seen, moves, logs = rollout(policy)
        for _ in range(3):
            new = Categorical(logits=policy(seen.flatten(0, 1))).log_prob(moves.flatten())
            ratio = (new - logs.flatten()).exp()
            (ratio * torch.randn_like(ratio)).mean().backward()
            for weight in policy.parameters():
                weight.data.add_(weight.grad, alpha=-5.0)
                weight.grad = None
    assert not any(fact.off for fact in facts(tmp_path, PolicyRatio))


def test_dropout_is_named(tmp_path):
    told, found = run(tmp_path, plain, drop=0.3)
    assert told[0].noise == "dropout" and "dropout changes what the policy says" in found[0].message


@pytest.mark.parametrize("log_ratio", [plain, of_other_weights, hotter, weights_written, against_itself])
def test_silent_where_they_are_1_or_need_not_be(tmp_path, log_ratio):
    told, found = run(tmp_path, log_ratio)
    assert not found and not any(fact.off for fact in told)
