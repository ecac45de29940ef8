"""Facts about custom autograd Functions: told when the loop calls them, silent inside modules, and differentiating as
ever."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch.autograd import Function

from debugtracer.hooks.custom_function import CustomFunctionHook
from debugtracer.hooks.events.loop_events import LoopEvents
from debugtracer.hooks.events.training_thread import TrainingThread
from debugtracer.hooks.free_calls import FreeCallMode
from debugtracer.hooks.inspection import Inspection
from debugtracer.recorder.call_cost import CallCost
from debugtracer.recorder.run_state import RunState
from debugtracer.recorder.tape.mode_stack import ModeStack
from debugtracer.recorder.tape.step_tape import Tape


class Cube(Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, times: float = 1.0) -> torch.Tensor:
        ctx.save_for_backward(x)
        ctx.times = times
        return times * x**3

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> Any:
        (x,) = ctx.saved_tensors
        return ctx.times * grad * 3 * x**2, None


class Told(LoopEvents):
    """What a session would hear."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, tuple[Any, ...]]] = []
        self.stack = ModeStack()
        self.free = FreeCallMode(
            self, TrainingThread(), Tape(lambda: ()), self.stack, Inspection(lambda: False), CallCost(RunState())
        )
        self.functions = CustomFunctionHook(self, self.stack)

    def custom_function(self, apply: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        self.calls.append((apply, args))
        return apply(*args, **kwargs)


@pytest.fixture
def told() -> Iterator[Told]:
    found = Told()
    found.functions.install()
    found.free.install()
    yield found
    found.free.remove()
    found.functions.remove()


def test_a_call_is_told_and_differentiates(told: Told) -> None:
    x = torch.tensor([2.0], requires_grad=True)
    y = Cube.apply(x, 2.0)
    y.sum().backward()
    assert (y.item(), x.grad.item()) == (16.0, 24.0)
    ((apply, args),) = told.calls
    assert args[0] is x
    assert apply(torch.tensor([1.0]), 3.0).item() == 3.0
    assert apply.__self__ is Cube


def test_deaf_it_passes(told: Told) -> None:
    with told.stack.paused():
        assert Cube.apply(torch.tensor([2.0])).item() == 8.0
    assert told.calls == []


def test_a_kept_apply_of_each_class_keeps_its_class(told: Told) -> None:
    class Square(Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            return x**2

    cube, square = Cube.apply, Square.apply
    assert (cube(torch.tensor(2.0)).item(), square(torch.tensor(2.0)).item()) == (8.0, 4.0)


def test_what_it_raises_is_the_user_s(told: Told) -> None:
    with pytest.raises(TypeError):
        Cube.apply()


def test_apply_is_as_it_was_after_remove() -> None:
    before = vars(Function)["apply"]
    told = Told()
    told.functions.install()
    assert Function.apply.__name__ == "apply"
    kept = Cube.apply
    told.functions.remove()
    assert vars(Function)["apply"] is before
    assert kept(torch.tensor(2.0)).item() == 8.0
