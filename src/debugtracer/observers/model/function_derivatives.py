"""Compares the backward of each autograd.Function of the program's with its forward, once, after the first backward."""

from __future__ import annotations

import functools
from time import perf_counter
from types import FunctionType
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd import Function

from debugtracer.callsites.frames import USER, as_frame, place_of, raw_frames
from debugtracer.callsites.line import first
from debugtracer.callsites.origins.gradient_origin import gradient_line
from debugtracer.errors import guarded
from debugtracer.hooks.hook import Patches
from debugtracer.hooks.skipped_code import unseen
from debugtracer.observers.graph.graph_walk import MOST_PART_NODES
from debugtracer.observers.model.derivative_trial import DerivativeTrial
from debugtracer.observers.model.first_call import FirstCall
from debugtracer.observers.model.passing_trial import passing
from debugtracer.observers.model.shadow_model import unnoticed
from debugtracer.observers.model.side_effects import DEPTH, of_function
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.function_derivative import FunctionDerivative
from debugtracer.trace.facts.passed_gradient import PassedGradient
from debugtracer.trace.number import number

MOST = 8  # functions that are compared (ours)
ELEMENTS = 2**20  # of all inputs of a call; a larger one is not kept (ours)
SLOW_S = 0.5  # after which no further one is begun (ours)
SHARED = frozenset({"dist", "distributed", "all_reduce", "all_gather", "reduce_scatter", "get_world_size"})
"""Names of a Function that exchanges gradients between ranks: of one rank alone it does nothing."""


class FunctionDerivativesObserver(Observer):
    """Keeps the inputs of the first call of each Function with a backward of the user's, and lets them go at the first
    backward."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.patches = Patches()
        self.kept: dict[type[Function], tuple[Any, ...]] = {}
        self.wanted: dict[type[Function], tuple[int, ...]] = {}
        """Function -> which of its arguments were to get a gradient."""
        self.came_in: dict[type[Function], float] = {}
        """Function that gives one number -> the gradient that came in at the kept call's backward."""
        self.branched: set[type[Function]] = set()
        """Functions whose input goes elsewhere in the graph of the first backward, too."""
        self.done = False

    def install(self) -> None:
        """Take the place of Function.apply: a program may keep `MyFunction.apply` under a name of its own."""
        if not self.run.function_tests:
            return
        original = vars(Function)["apply"].__func__

        @functools.wraps(original)
        def apply(cls: Any, *args: Any, **kwargs: Any) -> Any:
            if self.done or cls in self.kept:
                return original(cls, *args, **kwargs)
            self.run.attempt(self.keep, (cls, args, kwargs))
            output = original(cls, *args, **kwargs)
            if cls in self.kept:
                self.run.attempt(self.listen, (cls, output))
            return output

        self.patches.put(Function, "apply", classmethod(unseen(apply)))

    def remove(self) -> None:
        self.patches.undo()

    def reset(self) -> None:
        self.kept.clear()
        self.wanted.clear()
        self.came_in.clear()
        self.branched.clear()

    def listen(self, cls: type[Function], output: Any) -> None:
        """Note the gradient that comes in at the kept call, of a function that gives one number on the host."""
        if isinstance(output, Tensor) and output.requires_grad and output.numel() == 1 and output.device.type == "cpu":
            output.register_hook(guarded("function_derivatives.came_in")(functools.partial(self.note, cls)))

    def note(self, cls: type[Function], gradient: Tensor) -> None:
        """Take the gradient of the first backward."""
        if not self.done:
            self.came_in.setdefault(cls, float(gradient))

    def keep(self, cls: type[Function], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Note the line of the first call, and copy the inputs of one that takes part in a graph."""
        if not self.run.off and cls not in self.run.function_calls and is_users(cls.backward):
            self.run.function_calls[cls] = FirstCall(raw_frames(2), args)
        if self.run.off or kwargs or len(self.kept) >= MOST or not torch.is_grad_enabled():
            return
        held = [a for a in args if isinstance(a, Tensor)]
        places = tuple(i for i, a in enumerate(args) if isinstance(a, Tensor) and a.requires_grad and smooth(a))
        if not places or any(type(t) not in (Tensor, nn.Parameter) or t.layout is not torch.strided for t in held):
            return
        if sum(t.numel() for t in held) > ELEMENTS or not (is_users(cls.backward) and readable(cls)):
            return
        self.wanted[cls] = places
        self.kept[cls] = tuple(a.detach().clone() if isinstance(a, Tensor) else a for a in args)

    def backward_begins(self, losses: list[Tensor]) -> None:
        """Find which of them are given what goes elsewhere, too."""
        self.run.unsubscribe(self.backward_begins)
        if self.kept and not self.done:
            self.branched = branched(losses, set(self.kept))

    def backward_ended(self, losses: list[Tensor]) -> None:
        """Compare what was kept, and listen no more."""
        self.run.unsubscribe(self.backward_ended)
        if self.done:
            return
        self.done = True
        kept, wanted, came_in, both = dict(self.kept), dict(self.wanted), dict(self.came_in), set(self.branched)
        self.reset()
        begin = perf_counter()
        for cls, args in kept.items():
            for place in wanted[cls]:
                if perf_counter() - begin > SLOW_S:
                    return
                if not self.compare(cls, args, place, came_in.get(cls)):
                    self.pass_on(cls, args, place, cls in both)

    def compare(self, cls: type[Function], args: tuple[Any, ...], place: int, came_in: float | None) -> bool:
        """Emit what came of one input, if anything can be said of it; what the user's code raises in double precision
        ends it."""
        try:
            with unnoticed(self.run.disabled), torch.enable_grad():
                trial = DerivativeTrial(cls.apply, args, place)
                found = trial.outcome()
                unscaled = came_in not in (None, 0.0, 1.0) and trial.is_unscaled()
        except Exception:
            return True
        if found is None:
            return False
        difference, derivative, backward, ratio = found
        if difference == "same" and unscaled:
            difference = "unscaled"
        self.run.emit(
            FunctionDerivative(
                ref=self.run.ref("backward", 0), function=cls.__name__, frame=gradient_at(cls.backward, place),
                input=place, difference=difference, derivative=number(derivative), backward=number(backward),
                ratio=None if ratio is None else number(ratio), came_in=None if came_in is None else number(came_in),
            )
        )  # fmt: skip
        return True

    def pass_on(self, cls: type[Function], args: tuple[Any, ...], place: int, branches: bool) -> None:
        """Emit a Function that hands on its input and its gradient."""
        names = {name for f in (cls.forward, cls.backward) for name in f.__code__.co_names}
        if hasattr(cls, "symbolic") or names & SHARED:
            return  # it stands for something in an exported graph, or among ranks
        try:
            with unnoticed(self.run.disabled), torch.enable_grad():
                found = passing(cls.apply, args, place)
        except Exception:
            return
        call = self.run.function_calls.get(cls)
        if found is not None:
            self.run.emit(
                PassedGradient(
                    ref=self.run.ref("backward", 0), function=cls.__name__, frame=gradient_at(cls.backward, place),
                    called=first(call.raw) if call is not None else None, ratio=number(found.ratio),
                    numbers=found.numbers, unused=found.unused, from_zero=found.from_zero, branches=branches,
                )
            )  # fmt: skip


def branched(losses: list[Tensor], asked: set[type[Function]]) -> set[type[Function]]:
    """The Functions whose first input is also given to another node of the graph."""
    stack: list[Any] = [t.grad_fn for t in losses if t.grad_fn is not None]
    seen = set(stack)
    readers: dict[Any, int] = {}
    inputs: list[tuple[type[Function], Any]] = []
    while stack and len(seen) < MOST_PART_NODES:
        node = stack.pop()
        cls = getattr(type(node), "_forward_cls", None)
        for place, (child, _) in enumerate(node.next_functions):
            if child is None:
                continue
            readers[child] = readers.get(child, 0) + 1
            if cls in asked and not place:
                inputs.append((cls, child))
            if child not in seen:
                seen.add(child)
                stack.append(child)
    return {cls for cls, child in inputs if readers[child] > 1}


def smooth(tensor: Tensor) -> bool:
    """Whether differences can be taken of it."""
    return tensor.is_floating_point() and tensor.numel() > 0


def is_users(function: Any) -> bool:
    """Whether the user wrote this function."""
    code = getattr(function, "__code__", None)
    return code is not None and place_of(code) == USER


def readable(cls: type[Function]) -> bool:
    """Whether it may run again without anybody noticing."""
    both = [f for f in (cls.forward, cls.backward) if isinstance(f, FunctionType)]
    return len(both) == 2 and all(of_function(f, set(), DEPTH) is None for f in both)


def gradient_at(function: Any, place: int) -> Frame:
    """The line of a backward that computes the gradient of an input, else that of its last return."""
    code = function.__code__
    last = max(line for _, _, line in code.co_lines() if line is not None)
    return as_frame(code, guarded("function_derivatives.line")(gradient_line)(code, place) or last)
