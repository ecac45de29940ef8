"""The norm of an update's gradients: the loop's own where it says the same, else one fused call."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from debugtracer.recorder.gate.gradient_norm import GradientNorm
from debugtracer.recorder.run_state import RunState


def trained(scale: float = 1.0) -> list[torch.Tensor]:
    torch.manual_seed(0)
    model = nn.Linear(4, 3)
    (scale * model(torch.ones(2, 4))).square().sum().backward()
    return list(model.parameters())


def own(parameters: list[torch.Tensor]) -> torch.Tensor:
    return torch.stack([p.grad.norm() for p in parameters if p.grad is not None]).norm()


def test_without_a_clip_it_is_measured() -> None:
    parameters = trained()
    found = GradientNorm(RunState()).of(parameters)
    assert found is not None
    assert found.item() == pytest.approx(own(parameters).item(), rel=1e-6)


def test_without_a_gradient_there_is_none() -> None:
    assert GradientNorm(RunState()).of([torch.ones(2, requires_grad=True)]) is None


def test_the_norm_of_a_clip_serves_once_and_only_for_its_parameters() -> None:
    parameters, norms = trained(), GradientNorm(RunState())
    told = torch.tensor(7.0)
    norms.clipped(parameters, told)
    assert norms.of(parameters) == told
    assert norms.of(parameters) != told
    norms.clipped(parameters[:1], told)
    assert norms.of(parameters) != told
    norms.clipped(parameters, told)
    norms.reset()
    assert norms.of(parameters) != told


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_clip_that_is_not_finite_is_measured_again(value: float) -> None:
    parameters, norms = trained(), GradientNorm(RunState())
    norms.clipped(parameters, torch.tensor(value))
    found = norms.of(parameters)
    assert found is not None
    assert found.item() == pytest.approx(own(parameters).item(), rel=1e-6)


@pytest.mark.parametrize(("order", "serves"), [((), True), ((2.0,), True), ((1.0,), False), ((math.inf,), False)])
def test_a_clip_by_another_norm_says_nothing_of_l2(order: tuple[float, ...], serves: bool) -> None:
    parameters, norms, told = trained(), GradientNorm(RunState()), torch.tensor(7.0)
    norms.clip_returned((parameters, 1.0, *order), {}, told)
    found = norms.of(parameters)
    assert found is not None
    assert bool(found == told) is serves


def test_a_number_is_that_of_the_clip_or_our_own() -> None:
    parameters, norms = trained(), GradientNorm(RunState())
    expected = own(parameters).item()
    assert norms.read(parameters) == pytest.approx(expected, rel=1e-6)
    norms.clipped(parameters, torch.tensor(7.0))
    assert norms.read(parameters) == 7.0
    norms.clipped(parameters, torch.tensor(math.nan))
    assert norms.read(parameters) == pytest.approx(expected, rel=1e-6)
