"""Gradients left in a critic, in real loops."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import nn

from debugtracer.observers.optimizer.critic_gradients import CriticGradientsObserver
from debugtracer.trace.facts.critic_gradient import CriticGradient
from tests.observers.loops import gan, mse
from tests.observers.observing import observed
from tests.watching import under_watch


def forging(clears: str) -> Callable[[], None]:
    """A GAN that clears its critic at the top, before its own backward, or freezes it."""

    def loop() -> None:
        torch.manual_seed(0)
        forger, critic = nn.Linear(2, 3), nn.Linear(3, 1)
        of_forger = torch.optim.Adam(forger.parameters(), lr=1e-3)
        of_critic = torch.optim.Adam(critic.parameters(), lr=1e-3)
        for _ in range(6):
            of_forger.zero_grad()
            of_critic.zero_grad()
            critic.requires_grad_(clears != "frozen")
            made = forger(torch.randn(4, 2))
            mse(critic(made), torch.ones(4, 1)).backward()
            of_forger.step()
            critic.requires_grad_(True)
            if clears == "before":
                of_critic.zero_grad(set_to_none=False)
            mse(critic(made.detach()), torch.zeros(4, 1)).backward()
            of_critic.step()

    return loop


def test_a_critic_that_is_cleared_too_early_is_seen(tmp_path: Path):
    facts = observed(tmp_path / "runs", forging("top"), CriticGradient)
    assert [f.number for f in facts] == list(range(6))
    first = facts[0]
    assert (first.optimizer, first.other, first.parameters) == (1, 0, 2)
    assert first.cleared is not None and first.cleared.code == "of_critic.zero_grad()"
    assert first.backward is not None and "torch.ones" in first.backward.code
    assert first.added is not None and "torch.zeros" in first.added.code
    assert first.step is not None and first.step.code == "of_critic.step()"


def shared_body() -> None:
    """Two heads on one body: their gradients meet in it."""
    torch.manual_seed(0)
    body, heads = nn.Linear(2, 3), [nn.Linear(3, 1), nn.Linear(3, 1)]
    optimizers = [torch.optim.SGD(m.parameters(), lr=1e-2) for m in (*heads, body)]
    for _ in range(6):
        x = torch.randn(4, 2)
        for optimizer in optimizers:
            optimizer.zero_grad()
        for head, optimizer in zip(heads, optimizers, strict=False):
            mse(head(body(x)), x[:, :1]).backward()
            optimizer.step()
        optimizers[2].step()


@pytest.mark.parametrize("loop", [forging("before"), forging("frozen"), gan, shared_body])
def test_critics_of_their_own_objective_are_silent(tmp_path: Path, loop: Callable[[], None]):
    assert observed(tmp_path / "runs", loop, CriticGradient) == []


def test_what_was_left_is_forgotten_when_steps_were_missed(tmp_path: Path):
    with under_watch(tmp_path) as session:
        forging("top")()
        observer = session.dispatcher.observers["critic-gradients"]
        assert isinstance(observer, CriticGradientsObserver)
        assert observer.clears
        forger, critic = (nn.Linear(2, 2) for _ in range(2))
        optimizers = [torch.optim.SGD(m.parameters(), lr=0.1) for m in (forger, critic)]
        mse(critic(forger(torch.ones(1, 2))), torch.ones(1, 2)).backward()
        assert optimizers[1] in observer.leftover
        session.dispatcher.missed()
        assert not observer.leftover
