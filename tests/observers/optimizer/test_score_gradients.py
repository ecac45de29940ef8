"""Gradients at the scores of a critic, in real loops."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import nn

from debugtracer.trace.facts.score_gradient import ScoreGradient
from tests.observers.loops import gan
from tests.observers.observing import observed


def pottery(sign: float, cut: str) -> Callable[[], None]:
    """A Wasserstein GAN whose critic gets what was made detached, or made without a graph."""

    def loop() -> None:
        torch.manual_seed(0)
        generator, critic = nn.Linear(2, 3), nn.Linear(3, 1)
        of_maker, of_critic = (torch.optim.Adam(m.parameters(), lr=1e-3) for m in (generator, critic))
        for _ in range(5):
            if cut == "detach":
                made = torch.tanh(generator(torch.randn(4, 2))).detach()
            else:
                with torch.no_grad():
                    made = generator(torch.randn(4, 2))
            of_critic.zero_grad()
            (critic(made).mean() - critic(torch.randn(4, 3)).mean()).backward()
            of_critic.step()
            of_maker.zero_grad()
            (sign * critic(generator(torch.randn(4, 2))).mean()).backward()
            of_maker.step()

    return loop


@pytest.mark.parametrize("cut", ["detach", "no_grad"])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_way_of_both(tmp_path: Path, sign: float, cut: str):
    facts = observed(tmp_path / "runs", pottery(sign, cut), ScoreGradient)
    critics, generators = ([f for f in facts if f.by_critic is by] for by in (True, False))
    assert len(critics) >= 2 and len(generators) >= 2
    assert {(f.generated_raised, f.real_raised) for f in critics} == {(0.0, 1.0)}
    assert {(f.generated_raised, f.real_raised) for f in generators} == {(1.0 if sign < 0 else 0.0, None)}
    assert (facts[0].critic, facts[0].generator, facts[0].kind) == (1, 0, "Adam")
    assert generators[0].called is not None and "sign * critic" in generators[0].called.code


def test_without_detach_the_update_tells_whose_it_is(tmp_path: Path):
    facts = observed(tmp_path / "runs", gan, ScoreGradient)
    assert {(f.by_critic, f.generated_raised, f.real_raised) for f in facts} == {(True, 0.0, 1.0), (False, 1.0, None)}


def together() -> None:
    """Encoder and head with an optimizer each and one loss."""
    torch.manual_seed(0)
    body, head = nn.Linear(2, 3), nn.Linear(3, 1)
    optimizers = [torch.optim.SGD(m.parameters(), lr=1e-2) for m in (body, head)]
    for _ in range(6):
        for optimizer in optimizers:
            optimizer.zero_grad()
        head(body(torch.randn(4, 2))).mean().backward()
        for optimizer in optimizers:
            optimizer.step()


def test_one_loss_of_both_is_one_update(tmp_path: Path):
    facts = observed(tmp_path / "runs", together, ScoreGradient)
    assert {f.by_critic for f in facts} == {False}


def alone() -> None:
    """One optimizer."""
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
    for _ in range(4):
        optimizer.zero_grad()
        model(torch.randn(4, 2)).mean().backward()
        optimizer.step()


def test_one_optimizer_is_no_game(tmp_path: Path):
    assert observed(tmp_path / "runs", alone, ScoreGradient) == []


def ragged() -> None:
    """Two optimizers over a sparse and a nested input."""
    torch.manual_seed(0)
    first, second = nn.Linear(4, 3), nn.Linear(4, 3)
    optimizers = [torch.optim.SGD(m.parameters(), lr=1e-2) for m in (first, second)]
    for _ in range(3):
        for model, optimizer in zip((first, second), optimizers, strict=True):
            given = torch.randn(2, 4).to_sparse()
            made = nn.functional.linear(given.to_dense(), model.weight).detach().to_sparse()
            optimizer.zero_grad()
            (torch.sparse.mm(made, torch.eye(3)).sum() * model(given.to_dense()).sum()).backward()
            optimizer.step()


def test_sparse_tensors_are_left_alone(tmp_path: Path):
    assert observed(tmp_path / "runs", ragged, ScoreGradient) == []
