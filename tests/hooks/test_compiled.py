"""Facts about compiled code under watch: whole graphs, one tape entry, roots and gates as without compile."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import nn

from debugtracer.hooks.compiled import CompileHook
from debugtracer.hooks.events.loop_events import LoopEvents
from debugtracer.hooks.events.training_thread import TrainingThread
from debugtracer.hooks.free_calls import FreeCallMode
from debugtracer.hooks.inspection import Inspection
from debugtracer.hooks.module import ModuleHook
from debugtracer.hooks.optimizer import OptimizerHook
from debugtracer.recorder.call_cost import CallCost
from debugtracer.recorder.run_state import RunState
from debugtracer.recorder.tape.mode_stack import ModeStack
from debugtracer.recorder.tape.step_tape import Tape


class Told(LoopEvents):
    """What a session would hear."""

    def __init__(self) -> None:
        self.calls: list[Any] = []
        self.roots: list[str] = []
        self.steps: list[Any] = []
        self.said = 0
        self.stack, self.state, thread = ModeStack(), RunState(), TrainingThread()
        self.free = FreeCallMode(
            self, thread, Tape(lambda: ()), self.stack, Inspection(lambda: False), CallCost(RunState())
        )
        self.root_calls = ModuleHook(self, thread, self.state.open_root)
        self.gates = OptimizerHook(self, thread, self.state)
        self.compiled = CompileHook(self, self.stack, self.root_calls, self.gates, self.state)

    def compiles(self) -> None:
        self.said += 1

    def entered(self, module: nn.Module, args: tuple[Any, ...]) -> None:
        self.roots.append("in")

    def left(self, module: nn.Module, kwargs: dict[str, Any], output: Any, failed: bool) -> None:
        self.roots.append("out")

    def custom_function(self, apply: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        self.calls.append(args)
        with self.stack.paused():
            return apply(*args, **kwargs)

    def step(self, optimizer: Any, original: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        self.steps.append(optimizer)
        return original(optimizer, *args, **kwargs)


@pytest.fixture
def told() -> Iterator[Told]:
    torch._dynamo.reset()
    found = Told()
    found.compiled.install()
    yield found
    found.compiled.remove()
    torch._dynamo.reset()


def test_a_compiled_loss_is_one_call_and_one_graph(told: Told) -> None:
    graphs: list[Any] = []

    def backend(graph: Any, inputs: Any) -> Any:
        graphs.append(graph)
        return graph.forward

    loss = torch.compile(lambda x: x.pow(2).mean(), fullgraph=True, backend=backend)
    x = torch.ones(3, requires_grad=True)
    told.free.install()
    try:
        value = loss(x)
    finally:
        told.free.remove()
    value.backward()
    assert (len(graphs), len(told.calls)) == (1, 1)
    assert x.grad is not None


def test_deaf_it_passes(told: Told) -> None:
    double = torch.compile(lambda x: x * 2, backend="eager")
    assert not told.stack.listening()
    assert double(torch.ones(1)).item() == 2.0
    assert told.calls == []


def test_a_module_compiled_in_place_is_a_root(told: Told) -> None:
    model = nn.Linear(2, 1)
    model.compile(backend="eager")
    told.root_calls.install()
    try:
        model(torch.ones(1, 2)).sum().backward()
    finally:
        told.root_calls.remove()
    assert told.roots == ["in", "out"]


def test_a_compiled_optimizer_step_passes_the_gate(told: Told) -> None:
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    before = model.weight.detach().clone()
    step = torch.compile(optimizer.step, backend="eager")
    model(torch.ones(1, 2)).sum().backward()
    step()
    assert told.steps == [optimizer]
    assert not torch.equal(before, model.weight)


def test_torch_is_as_it_was_after_remove() -> None:
    before = torch.compile, nn.Module.compile
    told = Told()
    told.compiled.install()
    told.compiled.remove()
    assert (torch.compile, nn.Module.compile) == before


def test_what_was_compiled_before_counts_and_what_was_left_out_does_not(told: Told) -> None:
    told.compiled.remove()
    torch.compiler.disable(lambda x: x)(1)
    told.compiled.install()
    assert told.said == 0
    told.compiled.remove()
    torch.compile(lambda x: x, backend="eager")
    told.compiled.install()
    assert told.said == 1
