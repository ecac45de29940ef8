"""Mixtures of data and noise, under a real session."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from debugtracer.trace.facts.noise_share import NoiseShare
from tests.observers.observing import observed

F = nn.functional


def training(mix, cumulated=True):
    """A loop that is given what `mix` makes of data, noise and the share of the signal."""

    def loop():
        torch.manual_seed(0)
        rates = torch.linspace(1e-3, 0.2, 40)
        kept = torch.cumprod(1 - rates, 0) if cumulated else (1 - rates).log().cumsum(0).exp()
        model = nn.Linear(4, 4)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        for step in range(3):
            x = torch.linspace(-1, 1, 64).view(16, 4) + step
            noise = torch.randn_like(x)
            mixed = mix(x, noise, kept[torch.randint(0, 40, (16,))][:, None])
            loss = F.mse_loss(model(mixed), noise)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    return loop


def without_root(x, noise, share):
    return share.sqrt() * x + (1 - share) * noise


def data_without_root(x, noise, share):
    return (1 - share) ** 0.5 * noise + x * share


def with_roots(x, noise, share):
    return share.sqrt() * x + (1 - share).sqrt() * noise


@pytest.mark.parametrize(
    ("mix", "close"),
    [(without_root, "plain_noise"), (data_without_root, "plain_data"), (with_roots, "squares")],
)
def test_the_sums_of_the_factors(tmp_path, mix, close):
    facts = observed(tmp_path / "runs", training(mix), NoiseShare)
    assert [fact.ref.step for fact in facts] == [0, 1, 2]
    for fact in facts:
        sums = {word: getattr(fact, word) for word in ("squares", "plain_noise", "plain_data", "straight")}
        assert sums.pop(close) < 1e-6 and min(sums.values()) > 0.02
        assert fact.rows == 16 and fact.frame is not None and fact.frame.code.startswith("return ")


def one_factor(x, noise, share):
    return x + (1 - share) * noise


def two_data(x, noise, share):
    return share.sqrt() * x + (1 - share) * x.flip(0)


@pytest.mark.parametrize("mix", [one_factor, two_data])
def test_what_is_no_mixture_of_both(tmp_path, mix):
    assert observed(tmp_path / "runs", training(mix), NoiseShare) == []


def test_a_schedule_in_continuous_time_is_left_alone(tmp_path):
    assert observed(tmp_path / "runs", training(without_root, cumulated=False), NoiseShare) == []
