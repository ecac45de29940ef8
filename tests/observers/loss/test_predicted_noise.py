"""Noise that is mixed into an input and predicted, in real loops."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from debugtracer.trace.facts.predicted_noise import PredictedNoise
from tests.observers.observing import observed

Loss = Callable[[nn.Module, Tensor], Tensor]


def predicted(draw: Callable[[Tensor], Tensor]) -> Loss:
    def loss_of(model: nn.Module, x: Tensor) -> Tensor:
        noise = draw(x)
        return nn.functional.mse_loss(model(0.8 * x + 0.6 * noise), noise)

    return loss_of


def denoised(model: nn.Module, x: Tensor) -> Tensor:
    return nn.functional.mse_loss(model(x + 0.6 * torch.rand_like(x)), x)


def by_itself(model: nn.Module, x: Tensor) -> Tensor:
    made = torch.rand_like(x)
    return nn.functional.mse_loss(model(made), made)


def velocity(model: nn.Module, x: Tensor) -> Tensor:
    noise = torch.rand_like(x)
    return nn.functional.mse_loss(model(0.5 * x + 0.5 * noise), x - noise)


def seen(out: Path, loss_of: Loss, first: Callable[[], Tensor], calls: int = 3) -> list[PredictedNoise]:
    """A network that is trained and then called without a graph, its own output again and again."""

    def loop() -> None:
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 8))
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
        for _ in range(5):
            optimizer.zero_grad()
            loss_of(model, torch.randn(64, 8)).backward()
            optimizer.step()
        with torch.no_grad():
            x = first()
            for _ in range(calls):
                x = model(x)

    return observed(out, loop, PredictedNoise)


def test_the_first_input_of_a_sampler(tmp_path: Path):
    (fact,) = seen(tmp_path / "runs", predicted(torch.rand_like), lambda: torch.randn(128, 8))
    assert (fact.draw, fact.count, fact.steps >= 3) == ("rand_like", 1024, True)
    assert fact.mean == pytest.approx(0.5, abs=0.06)
    assert fact.std == pytest.approx(0.289, abs=0.03)
    assert fact.given_mean == pytest.approx(0.0, abs=0.1)
    assert fact.given_std == pytest.approx(1.0, abs=0.1)
    assert fact.frame is not None and "draw(x)" in fact.frame.code
    assert fact.given_frame is not None and "model(x)" in fact.given_frame.code


def test_a_gaussian_is_followed_too(tmp_path: Path):
    (fact,) = seen(tmp_path / "runs", predicted(torch.randn_like), lambda: torch.randn(128, 8))
    assert fact.draw == "randn_like"


@pytest.mark.parametrize("loss_of", [denoised, by_itself, velocity])
def test_noise_that_is_not_mixed_and_asked_for_is_left_alone(tmp_path: Path, loss_of: Loss):
    assert seen(tmp_path / "runs", loss_of, lambda: torch.randn(128, 8)) == []


def test_few_values_say_nothing(tmp_path: Path):
    assert seen(tmp_path / "runs", predicted(torch.rand_like), lambda: torch.randn(2, 8)) == []
