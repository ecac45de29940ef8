"""Noise that is added to a batch, in real loops."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

from debugtracer.trace.facts.noisy_target import NoisyTarget
from tests.observers.loops import mse
from tests.observers.observing import observed

Loss = Callable[[nn.Module, Tensor], Tensor]


def training(loss_of: Loss) -> Callable[[], None]:
    def loop() -> None:
        torch.manual_seed(0)
        loader = DataLoader(TensorDataset(torch.randn(40, 6)), batch_size=8)
        model = nn.Linear(6, 6)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        for (x,) in loader:
            optimizer.zero_grad()
            loss_of(model, x).backward()
            optimizer.step()

    return loop


def mixed(target: str) -> Loss:
    def loss_of(model: nn.Module, x: Tensor) -> Tensor:
        noise, share = torch.randn_like(x), torch.rand(len(x), 1)
        heard = (1 - share) * x + share * noise
        return mse(model(heard), {"heard": heard, "noise": noise, "clean": x, "velocity": noise - x}[target])

    return loss_of


def test_the_noisy_input_as_target_is_seen_with_the_line_of_the_noise(tmp_path: Path):
    facts = observed(tmp_path / "runs", training(mixed("heard")), NoisyTarget)
    assert [(f.loss, f.number) for f in facts] == [("mse_loss", n) for n in range(3)]
    assert 0.3 < facts[0].noise < 0.9
    assert facts[0].drawn is not None and "torch.randn_like(x)" in facts[0].drawn.code
    assert facts[0].frame is not None and "mse(model(heard)" in facts[0].frame.code


def plain(model: nn.Module, x: Tensor) -> Tensor:
    return mse(model(x), x)


def drawn(model: nn.Module, x: Tensor) -> Tensor:
    """A latent that is drawn and found again, beside no data."""
    z = torch.randn_like(x) * 2 + 1
    return mse(model(z), z)


def beside(model: nn.Module, x: Tensor) -> Tensor:
    """The second of two losses."""
    noise = torch.randn_like(x)
    return mse(model(x + noise), x) + mse(model(x + noise), noise)


@pytest.mark.parametrize("loss_of", [mixed("noise"), mixed("clean"), mixed("velocity"), plain, drawn, beside])
def test_right_targets_autoencoders_and_latents_say_nothing(tmp_path: Path, loss_of: Loss):
    assert observed(tmp_path / "runs", training(loss_of), NoisyTarget) == []


def test_the_noise_of_a_dequantisation_is_small(tmp_path: Path):
    def loss_of(model: nn.Module, x: Tensor) -> Tensor:
        x = x + torch.rand_like(x) / 256
        return mse(model(x), x)

    assert all(abs(f.noise) < 0.15 for f in observed(tmp_path / "runs", training(loss_of), NoisyTarget))
