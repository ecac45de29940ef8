"""The table of torch functions against torch itself."""

from __future__ import annotations

import math

import pytest
import torch

from debugtracer.source.calls import Call
from debugtracer.source.functions import ACTIVATIONS, FUNCTIONS, LINEAR, NUMBERS, SAME
from debugtracer.source.value import TENSOR, Point, Value
from tests.source.reading import last_value, read

NONE = Call(read("").values, [], {})
INPUTS = torch.tensor([-1e4, -200.0, -20.0, -1.0, -0.0, 0.0, 0.3, 1.0, 20.0, 200.0, 1e4])


@pytest.mark.parametrize(
    "name",
    ["sigmoid", "tanh", "sin", "cos", "softplus", "relu", "relu6", "exp", "square", "abs", "logsigmoid", "hardsigmoid"],
)
def test_results_stay_inside_the_range_that_is_told(name):
    function = getattr(torch, name, None) or getattr(torch.nn.functional, name)
    results = function(INPUTS)
    told = FUNCTIONS[name](TENSOR, NONE)
    positive = told.low == 1e-45  # softplus and exp are never 0 but for underflow, which needs arguments below -104
    assert results.min() >= (0.0 if positive else told.low) and results.max() <= told.high


@pytest.mark.parametrize(
    ("name", "point", "argument"),
    [
        ("sigmoid", 0.0, -104.0),
        ("sigmoid", 1.0, 18.0),
        ("tanh", 1.0, 10.0),
        ("tanh", -1.0, -10.0),
        ("relu", 0.0, -1.0),
        ("relu6", 0.0, -1.0),
    ],
)
def test_a_point_is_really_reached_in_float32(name, point, argument):
    function = getattr(torch, name, None) or getattr(torch.nn.functional, name)
    assert float(function(torch.tensor(argument))) == point
    assert FUNCTIONS[name](TENSOR, NONE).exactly(point) is not None


def test_softmax_reaches_both_ends():
    assert torch.softmax(torch.tensor([0.0, -104.0]), 0).tolist() == [1.0, 0.0]
    assert FUNCTIONS["softmax"](TENSOR, NONE).exactly(0.0) is not None


def test_relu_blocks_the_gradient_and_a_clamp_does_not():
    x = torch.tensor([0.0, 0.0], requires_grad=True)
    (torch.relu(x)[0] + x.clamp(min=0)[1]).backward()
    assert x.grad is not None and x.grad.tolist() == [0.0, 1.0]
    point = FUNCTIONS["relu"](TENSOR, NONE).exactly(0.0)
    assert point is not None and point.blocked


@pytest.mark.parametrize(
    ("text", "low", "point"),
    [
        ("(y != 0).sum()", 0.0, 0.0),
        ("(x ** 2).sum(-1)", 0.0, 0.0),
        ("x.norm()", 0.0, 0.0),
        ("torch.randn(3).norm()", 0.0, None),
        ("x.std(0)", 0.0, 0.0),
        ("torch.rand(3)", 0.0, 0.0),
        ("torch.exp(torch.tanh(x))", math.exp(-1), math.exp(-1)),
        ("torch.softmax(x, 0).sum()", 0.0, None),
        ("torch.sigmoid(x).mean()", 0.0, None),
        ("torch.sqrt(torch.relu(x))", 0.0, 0.0),
    ],
)
def test_reductions_and_compositions(text, low, point):
    value = last_value(text)
    assert value.low == pytest.approx(low)
    assert (
        (value.points == ()) if point is None else (value.exactly(point) or value.points[0].at == pytest.approx(point))
    )


def test_every_name_of_the_tables_exists_in_torch():
    homes = (torch, torch.Tensor, torch.nn.functional, torch.special, torch.linalg, torch.Tensor.numpy)
    ours = {"identity", "nanstd", "clip_", "put", "expit"}  # names of layers we map, and of numpy
    assert sorted(n for n in {*FUNCTIONS, *SAME, *NUMBERS} - ours if not any(hasattr(home, n) for home in homes)) == []
    assert sorted(n for n in {*ACTIVATIONS, *LINEAR} if not hasattr(torch.nn, n)) == []


def test_a_value_kept_by_a_change_of_shape_keeps_its_points():
    before = Value(True, 0.0, 1.0, (Point(0.0, "why"),), form="softmax")
    assert FUNCTIONS["view"](before, NONE) == before
