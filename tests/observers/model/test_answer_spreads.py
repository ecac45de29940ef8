"""A copy that is given the first samples again, and a training that is bit for bit the same."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from debugtracer.trace.facts.answer_spread import AnswerSpread
from tests.observers.loops import data, mse
from tests.observers.observing import observed
from tests.watching import same_bits, under_watch


class Noisy(nn.Module):
    def __init__(self, ruined: bool = False) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Dropout(0.2), nn.Linear(8, 1))
        self.ruined = ruined

    def forward(self, x: Tensor) -> Tensor:
        return self.body(x)


def training(steps: int = 130, ruined: bool = False, alike: bool = False) -> Callable[[], list[Tensor]]:
    def loop() -> list[Tensor]:
        torch.manual_seed(0)
        model, losses = Noisy(), []
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        for step, (x, y) in enumerate(data(steps)):
            x = torch.ones_like(x) if alike else x
            optimizer.zero_grad()
            loss = mse(model(x), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.detach())
            if ruined and step == 10:
                with torch.no_grad():
                    model.body[0].bias.fill_(-100.0)
        return losses

    return loop


def test_outputs_that_differ_are_measured_at_64_and_128(tmp_path: Path):
    facts = observed(tmp_path / "runs", training(), AnswerSpread)
    assert [(f.ref.iteration, f.root, f.samples) for f in facts] == [(64, "Noisy", 4), (128, "Noisy", 4)]
    assert all(float(f.now) > 0.1 * float(f.first) for f in facts)


def test_a_ruined_model_answers_alike(tmp_path: Path):
    facts = observed(tmp_path / "runs", training(ruined=True), AnswerSpread)
    assert {float(f.now) for f in facts} == {0.0}


@pytest.mark.parametrize("loop", [training(60), training(alike=True)], ids=["short", "equal inputs"])
def test_short_runs_and_equal_inputs_say_nothing(tmp_path: Path, loop: Callable[[], object]):
    assert observed(tmp_path / "runs", loop, AnswerSpread) == []


def test_the_training_is_the_same_bit_for_bit(tmp_path: Path):
    alone = training()()
    with under_watch(tmp_path / "runs"):
        watched = training()()
    assert same_bits(torch.stack(alone), torch.stack(watched))
