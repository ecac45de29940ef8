"""Autoencoders of a real session: by what is their noise scaled?"""

from __future__ import annotations

import pytest
import torch
from torch import nn

from debugtracer.trace.facts.latent_spread import LatentSpread
from tests.observers.told import facts, findings
from tests.watching import under_watch


def divergence(mu, spread):
    return -0.5 * (1 + spread - mu.square() - spread.exp()).sum(1).mean()


def in_place(mu, spread):
    return mu.pow(2).add_(spread.exp()).mul_(-1).add_(1).add_(spread).sum().mul_(-0.5) / len(mu)


def of_sigma(mu, spread):
    return (mu.square() / 2 + (2 * spread).exp() / 2 - spread - 0.5).sum(1).mean()


def drawn(mu, scale):
    return torch.distributions.Normal(mu, scale).rsample()


WRONG = {
    "exp": (lambda mu, s: mu + torch.randn_like(mu) * torch.exp(s), divergence),
    "in place": (lambda mu, s: mu + s.exp() * torch.randn_like(s), in_place),
    "randn": (lambda mu, s: mu + s.exp() * torch.randn(*s.shape), divergence),
    "itself": (lambda mu, s: mu + s * torch.randn_like(s), divergence),
    "rsample": (lambda mu, s: drawn(mu, s.exp()), divergence),
}
RIGHT = {
    "half": (lambda mu, s: mu + torch.randn_like(mu) * torch.exp(0.5 * s), divergence),
    "halved": (lambda mu, s: mu + torch.randn_like(mu) * s.div(2).exp(), in_place),
    "root": (lambda mu, s: mu + torch.randn_like(mu) * s.exp().sqrt(), divergence),
    "log sigma": (lambda mu, s: mu + torch.randn_like(mu) * s.exp(), of_sigma),
    "rsample": (lambda mu, s: drawn(mu, torch.exp(s / 2)), divergence),
    "no noise": (lambda mu, s: mu * s.exp(), divergence),
}


def told(out, latent, apart):
    torch.manual_seed(2)
    read, draw = nn.Linear(6, 8), nn.Linear(4, 6)
    optimizer = torch.optim.SGD([*read.parameters(), *draw.parameters()], lr=0.01)
    with under_watch(out):
        for _ in range(3):
            x = torch.randn(10, 6)
            mu, spread = read(x).chunk(2, 1)
            loss = (draw(latent(mu, spread)) - x).square().sum(1).mean() + apart(mu, spread)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return facts(out, LatentSpread), findings(out, "latent-spread")


@pytest.mark.parametrize("name", WRONG)
def test_a_variance_in_the_place_of_a_deviation_is_told(tmp_path, name):
    found, said = told(tmp_path, *WRONG[name])
    assert len(said) == 1 and {f.raw for f in found} == {name == "itself"}
    assert said[0].place.frame.code.startswith(f'"{name}": ')


UNIFORM = {
    "rand_like": lambda mu, s: mu + torch.rand_like(mu) * torch.exp(0.5 * s),
    "rand": lambda mu, s: mu + s.exp() * torch.rand(*s.shape),
}


@pytest.mark.parametrize("name", UNIFORM)
def test_uniform_noise_of_a_deviation_is_told_at_its_draw(tmp_path, name):
    found, said = told(tmp_path, UNIFORM[name], divergence)
    assert len(said) == 1 and {f.drawn for f in found} == {name}
    assert said[0].place.frame.code.startswith(f'"{name}": ')


def centred(mu, s):
    return mu + (torch.rand_like(mu) - 0.5) * 12**0.5 * torch.exp(0.5 * s)


def test_uniform_noise_that_is_moved_or_of_no_divergence_is_left_alone(tmp_path):
    assert told(tmp_path / "a", centred, divergence)[1] == []
    assert told(tmp_path / "b", UNIFORM["rand_like"], lambda mu, s: (mu.square() + s.square()).mean())[1] == []


@pytest.mark.parametrize("name", RIGHT)
def test_a_deviation_and_others_are_left_alone(tmp_path, name):
    assert told(tmp_path, *RIGHT[name]) == ([], [])
