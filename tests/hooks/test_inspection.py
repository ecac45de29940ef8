"""The inspection of functions inside modules: told after they ran, same results, never where something is compiled or
without a graph."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn
from torch.overrides import _get_current_function_mode

from debugtracer.hooks.inspection import Inspection, InspectionMode
from debugtracer.recorder.run_state import RunState
from debugtracer.recorder.training_events import TrainingEvents


class Names(TrainingEvents):
    """The functions told, by name."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def called(self, function: Any, args: Any, kwargs: Any, output: Any) -> None:
        self.names.append(function.__name__)


def told_of(model: nn.Module, x: torch.Tensor, compiles: bool = False) -> tuple[list[str], torch.Tensor]:
    told, state = Names(), RunState()
    state.compiles = compiles
    inspection = InspectionMode(told, state)
    inspection.begin()
    try:
        return told.names, model(x)
    finally:
        inspection.end()
        assert _get_current_function_mode() is None


def test_functions_are_told_and_results_are_the_same():
    model, x = nn.Sequential(nn.Linear(4, 4), nn.GELU(), nn.Softmax(-1)), torch.randn(3, 4)
    names, output = told_of(model, x)
    assert [n for n in names if n in ("linear", "gelu", "softmax")] == ["linear", "gelu", "softmax"]
    assert torch.equal(output, model(x))


def test_the_gradient_is_the_same():
    model, x = nn.Sequential(nn.Linear(4, 4), nn.Tanh()), torch.randn(3, 4)
    told_of(model, x)[1].sum().backward()
    seen = [p.grad.clone() for p in model.parameters()]
    model.zero_grad()
    model(x).sum().backward()
    assert all(torch.equal(a, p.grad) for a, p in zip(seen, model.parameters(), strict=True))


def test_it_stays_off_without_a_graph_and_where_the_program_compiles():
    model, x = nn.Linear(4, 4), torch.randn(3, 4)
    with torch.no_grad():
        assert told_of(model, x)[0] == []
    assert told_of(model, x, compiles=True)[0] == []


def test_what_the_function_raises_passes():
    told = Names()
    inspection = InspectionMode(told, RunState())
    inspection.begin()
    try:
        with pytest.raises(RuntimeError, match="inconsistent tensor size"):
            torch.ones(2) @ torch.ones(3)
    finally:
        inspection.end()
    assert told.names
    assert told.names.count("__matmul__") == 0


def test_the_answer_for_a_step_is_read_once_when_it_begins():
    answers = [True, False]
    inspection = Inspection(lambda: answers.pop(0))
    assert not inspection.on
    inspection.update()
    assert inspection.on
    assert inspection.on
    inspection.update()
    assert (inspection.on, answers) == (False, [])
