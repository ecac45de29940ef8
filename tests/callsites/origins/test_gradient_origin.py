"""The line of a backward that computes a gradient."""

from __future__ import annotations

import torch

from debugtracer.callsites.origins.gradient_origin import gradient_line


def picked(ctx, grad):
    a, b = ctx.saved_tensors
    grad_values = grad_b = None
    if ctx.needs_input_grad[1]:
        dense = grad.matmul(b.t())
        places = a[1] * 7 + a[0]
        grad_values = dense.view(-1)[places]
    if ctx.needs_input_grad[3]:
        grad_b = a.t().matmul(grad)
    return None, grad_values, grad * torch.ones(1), grad_b


def alone(ctx, grad):
    (x,) = ctx.saved_tensors
    return grad * x


def test_the_last_line_that_computes_it():
    first = picked.__code__.co_firstlineno
    line = lambda place: (gradient_line(picked.__code__, place) or first) - first  # noqa: E731
    assert [line(place) for place in range(5)] == [0, 5, 0, 8, 0]
    assert gradient_line(alone.__code__, 0) is None
    assert gradient_line(alone.__code__, 1) is None
