"""When the norm that the loop's own clipping has measured serves, and when the gradients are read."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from debugtracer.recorder.gate.gradient_norm import GradientNorm
from debugtracer.recorder.run_state import RunState


def parameters(count=2):
    made = [nn.Parameter(torch.ones(1)) for _ in range(count)]
    for one in made:
        one.grad = torch.full((1,), 3.0)
    return made


def a_norm():
    """One whose own measure is 9."""
    return GradientNorm(RunState(), lambda gradients: torch.tensor(9.0))


META = torch.ones((), device="meta")


@pytest.mark.parametrize(
    ("args", "kwargs", "kept"),
    [
        ((1.0,), {}, True),
        ((1.0, 2.0), {}, True),
        ((1.0, 1.0), {}, False),
        ((1.0,), {"norm_type": 2}, True),
        ((1.0,), {"norm_type": math.inf}, False),
    ],
)
def test_a_clip_of_another_order_is_no_l2(args, kwargs, kept):
    norm, held = a_norm(), parameters()
    norm.clip_returned((held, *args), kwargs, torch.tensor(4.0))
    assert (norm.clip is not None) is kept


def test_a_clip_over_no_list_or_without_a_tensor_is_not_kept():
    held, value = parameters(), torch.tensor(4.0)
    for given, measured in ((tuple(held), value), ([], value), (held, 4.0)):
        norm = a_norm()
        norm.clipped(given, measured)
        assert norm.clip is None


def clipped(value, held, others=None, iteration=0):
    norm = a_norm()
    norm.clipped(held, value)
    norm.state.iteration = iteration
    return norm


@pytest.mark.parametrize(
    ("value", "iteration", "expected"),
    [(4.0, 0, 4.0), (math.inf, 0, 9.0), (math.nan, 0, 9.0), (4.0, 1, 9.0)],
)
def test_a_finite_norm_of_this_step_serves(value, iteration, expected):
    held = parameters()
    assert clipped(torch.tensor(value), held, iteration=iteration).of(held).item() == expected
    read = clipped(torch.tensor(value), held, iteration=iteration).read(held)
    assert read == pytest.approx(4.0 if expected == 4.0 else math.sqrt(18.0))


def test_it_serves_once_and_for_the_same_parameters_alone():
    held = parameters()
    norm = clipped(torch.tensor(4.0), held)
    assert norm.of(held).item() == 4.0 and norm.of(held).item() == 9.0
    for others in (held[:1], [held[1], held[0]], [held[0], *parameters(1)], [*parameters(1), held[1]]):
        assert clipped(torch.tensor(4.0), held).of(others).item() == 9.0
        assert clipped(META, held).clip_of(others) is None
    assert clipped(torch.tensor(4.0), held).of([]).item() == 9.0
    norm = clipped(torch.tensor(4.0), held)
    norm.reset()
    assert norm.clip is None


def test_one_on_a_device_is_not_read_at_once():
    held = parameters()
    assert clipped(META, held).of(held).item() == 9.0
    assert clipped(META, held).read(held) == pytest.approx(math.sqrt(18.0))


@pytest.mark.parametrize(
    ("value", "serves"),
    [
        (META, True),
        (torch.tensor(4.0), False),
        (META.half(), False),
        (META.double(), False),
        (nn.Parameter(META), True),
        (META.as_subclass(type("Other", (torch.Tensor,), {})), False),
    ],
)
def test_one_on_a_device_serves_late_where_it_cannot_overflow(value, serves):
    held = parameters()
    assert (clipped(value, held).clip_of(held) is not None) is serves
    assert clipped(value, held).clip_of([]) is None and clipped(value, held, iteration=1).clip_of(held) is None
    assert a_norm().clip_of(held) is None
