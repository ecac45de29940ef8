"""By what a Function that hands on its input multiplies the gradient."""

from __future__ import annotations

import pytest
import torch
from torch.autograd import Function

from debugtracer.observers.model.passing_trial import passing

X = torch.randn(5, 3)


def function(backward, forward=lambda x: x.view_as(x)):
    class Made(Function):
        @staticmethod
        def forward(ctx, x, alpha=1.0):
            ctx.alpha = alpha
            return forward(x)

        @staticmethod
        def backward(ctx, gradient):
            return backward(ctx, gradient), None

    return Made.apply


def test_a_factor_and_whether_its_number_has_an_effect():
    assert passing(function(lambda ctx, g: g), (X, 0.5), 0) == (1.0, 1, True, False)
    assert passing(function(lambda ctx, g: g * ctx.alpha), (X, 0.5), 0) == (0.5, 1, False, False)
    assert passing(function(lambda ctx, g: g * ctx.alpha), (X, 0.0), 0) == (1.0, 1, False, True)


@pytest.mark.parametrize(
    "backward",
    [
        lambda ctx, g: -g,
        lambda ctx, g: -ctx.alpha * g,
        lambda ctx, g: g.clamp(-1, 1),
        lambda ctx, g: torch.nan_to_num(g),
        lambda ctx, g: torch.zeros_like(g),
        lambda ctx, g: g * torch.arange(3),
    ],
)
def test_other_gradients_are_none(backward):
    assert passing(function(backward), (X, 1.0), 0) is None


@pytest.mark.parametrize("forward", [torch.round, lambda x: x.clamp(-2, 2), lambda x: 2 * x, torch.sign])
def test_straight_through_estimators_are_none(forward):
    assert passing(function(lambda ctx, g: g, forward), (X, 1.0), 0) is None


def test_zeros_that_come_in_first_do_not_make_a_rounding_an_identity():
    assert passing(function(lambda ctx, g: g, torch.round), (torch.zeros(4), 1.0), 0) is None
