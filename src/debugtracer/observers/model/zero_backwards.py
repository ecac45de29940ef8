"""Looks at what the autograd.Functions of a program pass back, in few steps, further and further apart."""

from __future__ import annotations

import functools
from types import SimpleNamespace
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd import Function

from debugtracer.callsites.frames import frames_of
from debugtracer.callsites.origins.argument_origin import argument_origin
from debugtracer.callsites.origins.value_origin import written_at
from debugtracer.errors import guarded
from debugtracer.observers.graph.graph_walk import MOST_PART_NODES
from debugtracer.observers.model.first_call import is_zero
from debugtracer.observers.model.function_derivatives import gradient_at, readable
from debugtracer.observers.model.shadow_model import unnoticed
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.zero_backward import ZeroBackward

FIRST = 3  # steps after which nothing more is looked for where each Function passes something on (ours)
MOST = 64  # nodes of a graph that are listened to (ours)


class Passed(NamedTuple):
    """What one node passed back; numbers on its device until the backward is over."""

    came_in: Tensor
    given: Tensor
    turned: Tensor
    values: int
    factor: str


class ZeroBackwardsObserver(Observer):
    """Listens at nodes of the graph in a look, and reads three flags of each when the backward is over."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.alive: set[type[Function]] = set()
        """Those that passed something on once."""
        self.turns: dict[type[Function], bool] = {}
        self.looking = False
        self.passed: dict[type[Function], list[Passed]] = {}

    def reset(self) -> None:
        self.looking = False
        self.passed.clear()

    def missed(self) -> None:
        """Leave a look that was not seen to its end."""
        self.reset()

    def backward_begins(self, losses: list[Tensor]) -> None:
        """Find the nodes of the program's own Functions."""
        self.reset()
        if not is_look(self.run.step) or self.run.compiles:
            return
        asked = {cls for cls in self.run.function_calls if cls not in self.alive}
        if not asked:
            if self.run.step >= FIRST:
                self.run.unsubscribe(self.backward_begins, self.backward_ended)
            return
        for node, cls in nodes_of(losses, asked):
            self.looking = True
            node.register_hook(guarded("zero_backwards.note")(functools.partial(self.note, cls, factor_of(node))))

    def note(self, cls: type[Function], factor: str, given: tuple[Any, ...], came_in: tuple[Any, ...]) -> None:
        """Compare what came in with what is given on; nothing is returned, so nothing changes."""
        if not self.looking:
            return  # a graph that is gone through once more
        with torch.no_grad(), torch._C.DisableTorchFunction():
            outs = [t for t in given if isinstance(t, Tensor) and t.is_floating_point() and t.numel()]
            ins = [t for t in came_in if isinstance(t, Tensor) and t.is_floating_point() and t.numel()]
            if not outs or not ins or any(type(t) is not Tensor or t.layout is not torch.strided for t in outs + ins):
                return
            turned = torch.zeros((), dtype=torch.bool)
            if len(outs) == len(ins) == 1 and outs[0].shape == ins[0].shape:
                turned = ((outs[0].signbit() != ins[0].signbit()) | (ins[0] == 0)).all()
            some_in, some_out = (torch.stack([(t != 0).any() for t in many]).any() for many in (ins, outs))
            seen = self.passed.setdefault(cls, [])
            seen.append(Passed(some_in, some_out, turned, sum(t.numel() for t in ins), factor))

    def backward_ended(self, losses: list[Tensor]) -> None:
        """Emit what was seen of each Function at which a gradient came in."""
        if not self.looking:
            return
        self.looking = False
        passed = dict(self.passed)
        self.passed.clear()
        for cls, every in passed.items():
            seen = [one for one in every if bool(one.came_in)]
            if not seen:
                continue
            zero = not any(bool(one.given) for one in seen)
            if not zero:
                self.alive.add(cls)
            self.run.emit(
                ZeroBackward(
                    ref=self.run.ref("backward", self.run.iteration - 1), function=cls.__name__,
                    frame=gradient_at(cls.backward, 0), zero=zero, values=sum(one.values for one in seen),
                    reverses=zero and (all(bool(one.turned) for one in seen) or self.would_turn(cls, seen[0].factor)),
                    factor=seen[0].factor if zero else "", made=self.made_at(cls) if zero else None,
                )
            )  # fmt: skip

    def would_turn(self, cls: type[Function], factor: str) -> bool:
        """Whether its backward would turn a gradient round if its factor were 1: a whole 0 has no sign."""
        if factor and cls not in self.turns:
            self.turns[cls] = False
            if self.run.function_tests and readable(cls):
                with unnoticed(self.run.disabled), torch.no_grad():
                    self.turns[cls] = is_turned(cls, factor)
        return bool(factor) and self.turns[cls]

    def made_at(self, cls: type[Function]) -> Frame | None:
        """The line that wrote the argument of the first call that was 0."""
        call = self.run.function_calls.get(cls)
        if call is None or len(call.zeros) != 1:
            return None
        return written_at(argument_origin(frames_of(call.raw), ("apply",), "", call.zeros[0]))


def is_look(step: int) -> bool:
    """Whether it is 0, 1, 2, 3, 4, 6, 8, 12, 16 and so on, or follows one of those: steps may take turns."""
    return any(bare(n) in (0, 1, 3) for n in (step, step - 1) if n >= 0)


def bare(number: int) -> int:
    """What is left of a number without its factors of 2."""
    return number // (number & -number) if number else 0


def nodes_of(losses: list[Tensor], asked: set[type[Function]]) -> list[tuple[Any, type[Function]]]:
    """The nodes of those Functions in the graph of the losses."""
    stack: list[Any] = [t.grad_fn for t in losses if t.grad_fn is not None]
    seen = set(stack)
    found: list[tuple[Any, type[Function]]] = []
    while stack and len(seen) < MOST_PART_NODES and len(found) < MOST:
        node = stack.pop()
        cls = getattr(type(node), "_forward_cls", None)
        if cls in asked:
            found.append((node, cls))
        for child, _ in node.next_functions:
            if child is not None and child not in seen:
                seen.add(child)
                stack.append(child)
    return found


def factor_of(node: Any) -> str:
    """The name of the only plain number on the context of a call that is 0."""
    zeros = [name for name, value in vars(node).items() if is_zero(value)]
    return zeros[0] if len(zeros) == 1 else ""


def is_turned(cls: type[Function], factor: str) -> bool:
    """Whether a backward gives -1 for 1 where its factor is 1; what it raises on such a context says no."""
    try:
        given = cls.backward(SimpleNamespace(**{factor: 1.0}), torch.ones(2))
    except Exception:
        return False
    first = given[0] if isinstance(given, (tuple, list)) and given else given
    return isinstance(first, Tensor) and bool((first < 0).all())
