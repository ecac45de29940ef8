"""The backward that autograd derives from a forward, in the place of a person's own."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.autograd.function import Function

from debugtracer.errors import ReplayRefused
from debugtracer.interventions.derived_backward import derived, function_at
from debugtracer.trace.birth import Frame
from tests.interventions import parts
from tests.interventions.parts import Doubled


class Squared(Function):
    """Its forward and its context apart; its backward is wrong by a factor."""

    @staticmethod
    def forward(x: Tensor, times: float) -> Tensor:
        return x * x * times

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[0])

    @staticmethod
    def backward(ctx, grad: Tensor):
        return grad, None


class Numb(Function):
    """Its forward leaves autograd."""

    @staticmethod
    def forward(ctx, x: Tensor) -> Tensor:
        return torch.from_numpy(x.detach().numpy() * 2)

    @staticmethod
    def backward(ctx, grad: Tensor) -> Tensor:
        return grad


def test_gradients_are_those_of_the_forward_also_for_an_apply_bound_before():
    bound, x = Squared.apply, torch.tensor([0.0, 3.0], requires_grad=True)
    seen: list[str] = []
    with derived(Squared, seen):
        bound(x, 2.0).sum().backward()
    assert x.grad is not None
    assert (x.grad.tolist(), seen) == ([0.0, 12.0], ["Squared"])
    x.grad = None
    bound(x, 2.0).sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


def test_a_forward_with_a_context_is_followed_too():
    x = torch.tensor([0.0, 3.0], requires_grad=True)
    with derived(Doubled, []):
        Doubled.apply(x).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [2.0, 2.0]


def test_a_forward_that_leaves_autograd_is_refused():
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(ReplayRefused, match="autograd cannot follow the forward of Numb"), derived(Numb, []):
        Numb.apply(x).sum().backward()


def test_a_function_is_found_by_the_line_of_its_backward():
    line = Doubled.backward.__code__.co_firstlineno + 3
    assert function_at(Frame(parts.__file__, line)) is Doubled
    assert function_at(Frame(parts.__file__, 1)) is None
    assert function_at(Frame("/elsewhere.py", line)) is None
