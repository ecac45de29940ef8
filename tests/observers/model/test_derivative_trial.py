"""Backwards against differences of their forwards."""

from __future__ import annotations

import pytest
import torch
from torch.autograd import Function

from debugtracer.observers.model.derivative_trial import DerivativeTrial


def made(forward, backward):
    """A Function of two pure functions of its input."""

    class Made(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return forward(x)

        @staticmethod
        def backward(ctx, grad):
            return backward(grad, *ctx.saved_tensors)

    return Made


def swish(x):
    return x * x.sigmoid()


def slope(x):
    return x.sigmoid() * (1 + x * (1 - x.sigmoid()))


def outcome(forward, backward, x=None):
    x = torch.randn(16, 8, generator=torch.Generator().manual_seed(1)) if x is None else x
    return DerivativeTrial(made(forward, backward).apply, (x,), 0).outcome()


def unit(x):
    return x / x.norm(dim=-1, keepdim=True)


def true_of_unit(grad, x):
    size = x.norm(dim=-1, keepdim=True)
    return (grad - unit(x) * (grad * unit(x)).sum(-1, keepdim=True)) / size


@pytest.mark.parametrize(
    ("forward", "backward", "difference"),
    [
        (swish, lambda g, x: g * slope(x), "same"),
        (swish, lambda g, x: 0.5 * g * slope(x), "factor"),
        (swish, lambda g, x: -g * slope(x), "factor"),
        (swish, lambda g, x: g * x * x.sigmoid() * (1 - x.sigmoid()), "other"),
        (unit, true_of_unit, "same"),
        (unit, lambda g, x: g / x.norm(dim=-1, keepdim=True), "other"),
        (unit, lambda g, x: 2 * true_of_unit(g, x), "factor"),
        (unit, lambda g, x: torch.zeros_like(x), "cut"),
        (lambda x: (4 * x.clamp(-1, 1)).round() / 4, lambda g, x: g * (x.abs() >= 1), "reversed"),
    ],
)
def test_what_is_told(forward, backward, difference):
    assert outcome(forward, backward)[0] == difference


def test_the_factor_is_measured():
    assert outcome(unit, lambda g, x: -3 * true_of_unit(g, x))[3] == pytest.approx(-3)


@pytest.mark.parametrize(
    ("forward", "backward"),
    [
        (lambda x: x.view_as(x), lambda g, x: -g),  # a reversed gradient
        (lambda x: x.sign(), lambda g, x: g * (x.abs() <= 1)),
        (lambda x: x.sign(), lambda g, x: g),
        (lambda x: x.clamp(-1, 1), lambda g, x: g),
        (lambda x: (4 * x.clamp(-1, 1)).round() / 4, lambda g, x: g * (x.abs() <= 1)),
        (lambda x: (x > 0.3).to(x.dtype), lambda g, x: g / (1 + 10 * (x - 0.3).abs()) ** 2),
        (lambda x: (x > 0.3).to(x.dtype), lambda g, x: g * ((x - 0.3).abs() < 0.1)),
        (lambda x: x * (x >= x.topk(3, -1).values[..., -1:]), lambda g, x: g),
        (lambda x: x.abs().sqrt(), lambda g, x: g * x.sign() / (2 * x.abs().sqrt()).clamp_min(1e-3)),
        (lambda x: torch.dropout(x, 0.5, True), lambda g, x: g),
    ],
)
def test_what_is_written_on_purpose_is_not_told(forward, backward):
    found = outcome(forward, backward)
    assert found is None or found[0] == "same"


def test_a_loss_may_take_its_own_gradient_to_be_one():
    assert outcome(lambda x: x.square().sum(), lambda g, x: 2 * x)[0] == "same"
