"""The model with the weights that its layers begin with by themselves."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from debugtracer import session
from debugtracer.interventions.intervention import interventions
from tests.replay.pasts import Loop, bits, training, tried
from tests.watching import same_bits


@pytest.fixture(autouse=True)
def _left_alone():
    yield
    session.stop()


class Dead(nn.Sequential):
    """No unit of it is ever above 0."""

    def __init__(self) -> None:
        super().__init__(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
        nn.init.constant_(self[0].bias, -50.0)


class Bare(nn.Module):
    """Weights without a layer that knows how to begin."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(4, 1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x @ self.weight


def test_dead_units_live_again_and_the_moments_are_forgotten(tmp_path):
    loop = Loop(lambda p: torch.optim.Adam(p, lr=3e-2), net=Dead)
    loop.data = [(x, x[:, :1]) for x, _ in loop.data]
    with training(tmp_path, loop) as trials:
        plain, fresh = tried(trials, "unchanged"), tried(trials, "fresh-weights")
        before = bits(loop)
        assert fresh.change == "the 2 layers as they begin by themselves (reset_parameters)"
        assert fresh.loss is not None and plain.loss is not None
        assert fresh.loss < 0.7 * plain.loss
        moments = [s["step"] for s in loop.optimizer.state.values()]
        assert moments and all(map(same_bits, bits(loop), before))


def test_another_repeat_draws_other_weights(tmp_path):
    with training(tmp_path, Loop(net=Dead)) as trials:
        trials.steps = 0
        losses = []
        for trials.repeat in (0, 1, 0):
            losses.append(tried(trials, "fresh-weights").loss)
        assert losses[0] == losses[2] != losses[1]


def test_weights_without_a_layer_are_refused(tmp_path):
    with training(tmp_path, Loop(net=Bare)) as trials:
        assert trials.run(interventions()["fresh-weights"]).refused == "no layer has reset_parameters"
