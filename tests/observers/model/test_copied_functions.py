"""Functions that hold layers, made anew for a copy of their model."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from debugtracer.observers.model.copied_functions import CopiedFunctions, functions_with_parts, has_part
from debugtracer.observers.model.shadow_model import ShadowModel

X = torch.randn(4, 3)


class Model(nn.Module):
    """Reaches its layer through what `make` gives."""

    def __init__(self, make: Callable[[nn.Module], Any]) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(3)
        self.body = make(self)

    def forward(self, x: Tensor) -> Tensor:
        body = self.body
        while not callable(body):
            body = body["in"] if isinstance(body, dict) else body[0]
        result: Tensor = body(x)
        return result


def nested(model: Any) -> Any:
    inner = lambda x: model.norm(x)  # noqa: E731
    return lambda x: inner(x)


WAYS: dict[str, Callable[[Any], Any]] = {
    "a closure": lambda model: lambda x: model.norm(x),
    "a default": lambda model: lambda x, norm=model.norm: norm(x),
    "a list of closures": lambda model: [lambda x: model.norm(x)],
    "a closure in a dict": lambda model: {"in": lambda x: model.norm(x)},
    "a closure over a list": lambda model: (lambda norms: lambda x: norms[0](x))([model.norm]),
    "a closure over a closure": nested,
}


@pytest.mark.parametrize("way", WAYS)
def test_the_copy_runs_its_own_layer_and_the_programs_stays(way: str) -> None:
    model = Model(WAYS[way])
    output, _ = ShadowModel(model, ()).run((X,), {})
    assert output is not None and int(model.norm.num_batches_tracked) == 0
    assert torch.equal(output, copy.deepcopy(model.norm).eval()(X))
    model(X)
    assert int(model.norm.num_batches_tracked) == 1


def test_the_copied_function_holds_the_copys_layer_and_its_own_keyword_defaults() -> None:
    model = Model(lambda m: lambda x, *, norm=m.norm, scale=2.0: norm(x) * scale)
    copies: dict[int, Any] = {}
    functions = CopiedFunctions(model, copies)
    twin = copy.deepcopy(model, copies)
    functions.fill()
    assert twin.body is not model.body
    assert twin.body.__kwdefaults__["norm"] is twin.norm and twin.body.__kwdefaults__["scale"] == 2.0
    assert model.body.__kwdefaults__["norm"] is model.norm


def test_functions_without_parts_stay_as_they_are() -> None:
    number, table = 2.0, {"a": 1}
    model = Model(lambda _: lambda x: x * number + table["a"])
    assert not [*functions_with_parts(model)]
    assert not has_part(model.body) and has_part([X]) and not has_part([number])
    empty: list[Any] = []
    empty.append(empty)  # ends
    assert not has_part(empty)
