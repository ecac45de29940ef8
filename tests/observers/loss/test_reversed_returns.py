"""Returns in the order of a loop from the end."""

from __future__ import annotations

from collections import deque

import pytest
import torch
from torch import nn
from torch.distributions import Categorical

from debugtracer.trace.facts.reversed_returns import ReversedReturns
from tests.observers.told import facts, findings
from tests.watching import under_watch

STEPS = 8


def appended(rewards):
    total, sums = 0.0, []
    for reward in reversed(rewards):
        total = reward + 0.9 * total
        sums.append(total)
    return torch.tensor(sums)


def put_first(rewards):
    total, sums = 0.0, deque()
    for reward in rewards[::-1]:
        total = reward + 0.9 * total
        sums.appendleft(total)
    return torch.tensor(sums)


def stacked(logs, sums):
    return -(torch.stack(logs) * ((sums - sums.mean()) / (sums.std() + 1e-6))).mean()


def one_by_one(logs, sums):
    sums = (sums - sums.mean()) / (sums.std() + 1e-6)
    return torch.stack([-log * gain for log, gain in zip(logs, sums, strict=True)]).sum()


def both_turned(logs, sums):
    return -(torch.stack(logs[::-1]) * sums).mean()


def flipped(logs, sums):
    return -(torch.stack(logs) * sums.flip(0)).mean()


def turned_one_by_one(logs, sums):
    return torch.stack([-log * gain for log, gain in zip(reversed(logs), sums, strict=True)]).sum()


def run(out, returns, loss_of):
    torch.manual_seed(0)
    with under_watch(out):
        policy = nn.Linear(3, 4)
        optimizer = torch.optim.SGD(policy.parameters(), lr=0.1)
        for _ in range(2):
            logs = []
            for _ in range(STEPS):
                choice = Categorical(logits=policy(torch.randn(3)))
                logs.append(choice.log_prob(choice.sample()))
            loss = loss_of(logs, returns([1.0] * STEPS))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return facts(out, ReversedReturns), findings(out, "model/returns-reversed")


@pytest.mark.parametrize("loss_of", [stacked, one_by_one])
def test_returns_from_the_last_step_on_are_told(tmp_path, loss_of):
    told, (found,) = run(tmp_path, appended, loss_of)
    assert told[0].steps == STEPS and found.place.frame.code == "sums.append(total)"
    assert found.place.symptom_frame.function.startswith((loss_of.__name__, "<listcomp>"))


@pytest.mark.parametrize(
    ("returns", "loss_of"),
    [
        (put_first, stacked),
        (put_first, one_by_one),
        (appended, both_turned),
        (appended, flipped),
        (appended, turned_one_by_one),
    ],
)
def test_silent_where_each_step_has_its_own(tmp_path, returns, loss_of):
    assert run(tmp_path, returns, loss_of) == ([], [])
