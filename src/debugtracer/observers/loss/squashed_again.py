"""Looks at what a sigmoid or softmax is given: the output of another one, with nothing between?"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.optim import Optimizer

from debugtracer.callsites.frames import RawFrames, raw_frames
from debugtracer.callsites.line import first
from debugtracer.observers.graph.graph_walk import node_of
from debugtracer.observers.loss.loss_call import VIEWS
from debugtracer.observers.model.running_module import running_module
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected, of_functions
from debugtracer.trace.facts.squashed_again import SquashedAgain

SIGMOIDS = frozenset({"sigmoid", "sigmoid_", "special_expit", "expit"})
SQUASHES = SIGMOIDS | {"softmax"}
MOST, DEEP = 256, 8  # outputs of a step, views between two functions (ours)
LOOKS = 8  # inspected steps (ours: the form of a model is known after some)


class SquashedOutput(NamedTuple):
    """One output."""

    name: str
    raw: RawFrames
    module: str
    dim: int | None


class SquashedAgainObserver(Observer):
    """Compares numbers of nodes; reads no value and keeps no tensor."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.made: dict[int, SquashedOutput] = {}
        """By the number of the node."""
        self.looks = 0

    def reset(self) -> None:
        self.made.clear()

    def missed(self) -> None:
        """Forget what was made in a step that was not seen to its end."""
        self.made.clear()

    @of_functions(SQUASHES)
    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Remember such an output, and emit one of such an output."""
        name = getattr(function, "__name__", "")
        if name not in SQUASHES or not isinstance(output, Tensor) or not torch.is_grad_enabled():
            return
        node = node_of(output)
        if node is None:
            return
        name, before = "sigmoid" if name in SIGMOIDS else name, node.next_functions[0][0]
        dim = kwargs.get("dim", args[1] if len(args) > 1 else None) if name == "softmax" else None
        dim = dim % output.dim() if isinstance(dim, int) and output.dim() else None
        inner = self.known(before)
        if inner is not None and is_again(inner, name, dim):
            classes = int(output.shape[dim]) if name == "softmax" and dim is not None else 0
            self.run.emit(
                SquashedAgain(
                    ref=self.run.ref(), inner=inner.name, outer=name, classes=classes, frame=first(raw_frames(1)),
                    inner_frame=first(inner.raw), inner_module=inner.module,
                )
            )  # fmt: skip
        elif len(self.made) < MOST:
            module = running_module(1)
            layer = type(module).__name__ if type(module) in (torch.nn.Sigmoid, torch.nn.Softmax) else ""
            self.made[int(node._sequence_nr())] = SquashedOutput(name, raw_frames(1), layer, dim)

    def known(self, node: Any) -> SquashedOutput | None:
        """The sigmoid or softmax that is seen through views from this node on."""
        for _ in range(DEEP):
            if node is None:
                return None
            if node.name().startswith(("Sigmoid", "Softmax")):
                return self.made.get(int(node._sequence_nr()))
            if not node.name().startswith(VIEWS) or not node.next_functions:
                return None
            node = node.next_functions[0][0]
        return None

    @inspected
    def step_closed(self, optimizer: Optimizer) -> None:
        """Forget what was made in the step."""
        self.made.clear()
        self.looks += 1
        if self.looks >= LOOKS:
            self.run.unsubscribe(self.called, self.step_closed)


def is_again(inner: SquashedOutput, outer: str, dim: int | None) -> bool:
    """Whether no program means it: two softmaxes over two dimensions match both ways, and gates are normalised."""
    if outer == "softmax":
        return inner.name == "softmax" and inner.dim == dim and dim is not None
    return True
