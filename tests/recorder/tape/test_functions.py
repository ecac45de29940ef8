"""Facts about what torch functions mean for the tape, as a function mode really hands them over."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

from debugtracer.recorder.tape.functions import RANDOM_INPLACE, FunctionMeaning, decide, meaning, property_name


class Heard(TorchFunctionMode):
    """Every function object torch hands to a mode."""

    def __init__(self) -> None:
        super().__init__()
        self.functions: list[Any] = []

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.functions.append(function)
        return function(*args, **(kwargs or {}))


def heard(call: Callable[[torch.Tensor], Any]) -> list[FunctionMeaning]:
    x = torch.ones(3, 3)
    with Heard() as mode:
        call(x)
    return [meaning(f) for f in mode.functions]


def setdata(x: torch.Tensor) -> None:
    x.data = torch.Tensor.detach(x)


def setgrad(x: torch.Tensor) -> None:
    x.grad = None


def setitem(x: torch.Tensor) -> None:
    x[0] = 1.0


def iadd(x: torch.Tensor) -> None:
    x += 1


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda x: x + 1, FunctionMeaning.RECORD),
        (lambda x: x[0], FunctionMeaning.RECORD),
        (lambda x: F.cross_entropy(x, x), FunctionMeaning.RECORD),
        (lambda x: x.to(torch.float64), FunctionMeaning.RECORD),
        (lambda x: x.T, FunctionMeaning.RECORD),
        (lambda x: x.data, FunctionMeaning.RECORD),
        (lambda x: x.grad, FunctionMeaning.RECORD),
        (lambda x: x.detach(), FunctionMeaning.RECORD),
        (lambda x: x.__iter__(), FunctionMeaning.RECORD),
        (lambda x: x.shape, FunctionMeaning.IGNORE),
        (lambda x: x.device, FunctionMeaning.IGNORE),
        (lambda x: x.requires_grad, FunctionMeaning.IGNORE),
        (lambda x: x.size(0), FunctionMeaning.IGNORE),
        (lambda x: repr(x), FunctionMeaning.IGNORE),
        (lambda x: len(x), FunctionMeaning.IGNORE),
        (lambda x: x.add_(1), FunctionMeaning.INPLACE),
        (lambda x: x.copy_(x), FunctionMeaning.INPLACE),
        (iadd, FunctionMeaning.INPLACE),
        (setitem, FunctionMeaning.INPLACE),
        (setdata, FunctionMeaning.INPLACE),
        (setgrad, FunctionMeaning.INPLACE),
        (lambda x: nn.init.xavier_uniform_(x), FunctionMeaning.INPLACE),
        (lambda x: x.uniform_(), FunctionMeaning.INPLACE),
        (lambda x: F.dropout(x), FunctionMeaning.RANDOM),
        (lambda x: F.scaled_dot_product_attention(x, x, x), FunctionMeaning.RANDOM),
        (lambda x: F.gumbel_softmax(x), FunctionMeaning.RANDOM),
        (lambda x: torch.randn(2), FunctionMeaning.DRAW),
        (lambda x: torch.rand_like(x), FunctionMeaning.DRAW),
        (lambda x: torch.bernoulli(x), FunctionMeaning.DRAW),
        (lambda x: torch.randperm(3), FunctionMeaning.DRAW),
        (lambda x: x.sum().item(), FunctionMeaning.PEEK),
        (lambda x: float(x.sum()), FunctionMeaning.PEEK),
        (lambda x: bool(x.sum() > 0), FunctionMeaning.PEEK),
        (lambda x: torch.isnan(x), FunctionMeaning.PEEK),
        (lambda x: f"{x.sum():.2f}", FunctionMeaning.PEEK),
        (lambda x: x.tolist(), FunctionMeaning.PEEK),
    ],
)
def test_a_function_means_what_it_does(call: Callable[[torch.Tensor], Any], expected: FunctionMeaning) -> None:
    found = heard(call)
    assert expected in found, found


@pytest.mark.parametrize(
    "call", [lambda x: x.requires_grad_(), lambda x: x.data_ptr(), lambda x: x.stride(), lambda x: x.is_contiguous()]
)
def test_a_call_that_changes_no_value_is_not_in_place(call: Callable[[torch.Tensor], Any]) -> None:
    assert FunctionMeaning.INPLACE not in heard(call)


@pytest.mark.parametrize("name", sorted(RANDOM_INPLACE - {"dropout_", "alpha_dropout_", "rrelu_"}))
def test_a_random_in_place_name_is_a_method_of_tensors_that_draws(name: str) -> None:
    x = torch.full((50,), 0.5)
    before = torch.get_rng_state()
    getattr(x, name)(*((0.5,) if name == "geometric_" else ()))
    assert not torch.equal(before, torch.get_rng_state())
    assert decide(getattr(torch.Tensor, name)) is FunctionMeaning.INPLACE


def test_the_meaning_of_a_function_object_is_remembered_and_the_unhashable_decided() -> None:
    class Unhashable:
        __hash__ = None  # type: ignore[assignment]
        __name__ = "exp_"

    assert meaning(torch.exp) is meaning(torch.exp) is FunctionMeaning.RECORD
    assert meaning(Unhashable()) is FunctionMeaning.INPLACE


def test_a_property_is_known_by_its_name() -> None:
    assert property_name(torch.Tensor.T.__get__) == "T"
    assert property_name(torch.exp) == ""
