"""Runs with the same picks each time."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from debugtracer.observers.model.fixed_draws import FixedDraws
from debugtracer.observers.model.shadow_model import ShadowModel


class Picking(nn.Module):
    """Looks at a few positions of its input, and may add noise."""

    def __init__(self, noise: float = 0.0) -> None:
        super().__init__()
        self.noise, self.net = noise, nn.Linear(3, 2)

    def forward(self, x: Tensor) -> Tensor:
        chosen = x[:, torch.randperm(x.shape[1])[:3]] + x[:, torch.randint(0, x.shape[1], (3,))]
        said: Tensor = self.net(chosen)
        return said + torch.randn(said.shape) * self.noise if self.noise else said


def test_runs_agree_where_only_positions_are_drawn():
    x, fixed = torch.randn(4, 50), FixedDraws(ShadowModel(Picking(), []))
    first = fixed.first((x,), {})
    assert first is not None
    torch.rand(3)
    again, _ = fixed.run((x,), {})
    other, _ = fixed.run((x + 1,), {})
    assert again is not None and torch.equal(first, again)
    assert other is not None and not torch.equal(first, other)


def test_other_noise_and_none_at_all_are_left_alone():
    x = torch.randn(4, 50)
    assert FixedDraws(ShadowModel(Picking(0.1), [])).first((x,), {}) is None
    assert FixedDraws(ShadowModel(nn.Linear(50, 2), [])).first((x,), {}) is None
