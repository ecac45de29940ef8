"""Copies whose noise is at its mean."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from debugtracer.observers.model.shadow_model import ShadowModel
from debugtracer.observers.model.stilled_draws import StilledDraws


class Drawing(nn.Module):
    """Adds what it draws to its input."""

    def __init__(self, draw) -> None:
        super().__init__()
        self.draw = draw

    def forward(self, x: Tensor) -> Tensor:
        return x + self.draw(x)


X = torch.arange(6.0).reshape(2, 3)
WIDE = torch.full((2, 3), 4.0)


@pytest.mark.parametrize(
    ("draw", "middle"),
    [
        (lambda x: torch.randn(2, 3), 0.0),
        (lambda x: torch.randn_like(x), 0.0),
        (lambda x: torch.rand(2, 3), 0.5),
        (lambda x: torch.rand_like(x), 0.5),
        (lambda x: torch.normal(WIDE, 2.0), 4.0),
        (lambda x: torch.normal(3.0, 2.0, (2, 3)), 3.0),
        (lambda x: torch.empty(2, 3).normal_(), 0.0),
        (lambda x: torch.empty(2, 3).normal_(1.5, 2.0), 1.5),
        (lambda x: torch.empty(2, 3).uniform_(), 0.5),
        (lambda x: torch.empty(2, 3).uniform_(2.0, 4.0), 3.0),
        (lambda x: torch.bernoulli(torch.full((2, 3), 0.7)), 1.0),
        (lambda x: torch.bernoulli(torch.full((2, 3), 0.3)), 0.0),
        (lambda x: torch.distributions.Normal(WIDE, 1.0).rsample(), 4.0),
    ],
)
def test_what_is_drawn_is_the_middle_of_its_distribution(draw, middle):
    stilled = StilledDraws(ShadowModel(Drawing(draw), []))
    output, _ = stilled.run((X,), {})
    assert torch.equal(output, X + middle)
    assert stilled.settles((X,), {})


def test_a_dropout_that_is_never_off_lets_all_through():
    output, _ = StilledDraws(ShadowModel(Drawing(lambda x: nn.functional.dropout(x, 0.5)), [])).run((X,), {})
    assert torch.equal(output, 2 * X)


def test_indices_are_drawn_once():
    stilled = StilledDraws(ShadowModel(Drawing(lambda x: torch.randperm(3).float()), []))
    assert stilled.settles((X,), {})


def test_what_counts_its_calls_does_not_settle():
    calls: list[int] = []

    def counted(x: Tensor) -> float:
        calls.append(1)
        return float(len(calls))

    assert not StilledDraws(ShadowModel(Drawing(counted), [])).settles((X,), {})
