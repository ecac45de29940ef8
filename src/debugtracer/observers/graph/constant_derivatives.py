"""Follows derivatives that torch.autograd.grad gave without a graph: are they added to values that have one, on the way
to a loss?"""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from debugtracer.callsites.frames import RawFrames, raw_frames
from debugtracer.callsites.line import first
from debugtracer.observers.graph.graph_walk import MOST_PART_NODES, has_graph, leaves, node_of, numbers, parameter_ids
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected
from debugtracer.recorder.state.weak import WeakRef
from debugtracer.recorder.tape.entry import tensors
from debugtracer.trace.facts.constant_term import ConstantTerm
from debugtracer.trace.facts.loss_call import ELEMENTWISE

SUMS = frozenset({"add", "radd", "iadd", "sub", "rsub", "isub", "subtract"})
ALONG = frozenset(
    {
        "mul", "rmul", "imul", "multiply", "div", "truediv", "rtruediv", "rdiv", "itruediv", "divide", "pow", "rpow",
        "square", "sqrt", "abs", "neg", "negative", "exp", "log", "sin", "cos", "relu", "softplus", "clamp", "sum",
        "mean", "norm", "linalg_norm", "linalg_vector_norm", "getitem", "select", "narrow", "reshape", "view",
        "flatten", "squeeze", "unsqueeze", "transpose", "permute", "t", "expand", "expand_as", "cat", "stack", "split",
        "chunk", "unbind", "clone", "contiguous", "to", "float", "double", "cosh", "max", "amax", "where", "cumsum",
        "matmul", "rmatmul", "mm", "bmm", "mv", "einsum", "tensordot", "dot", "inner", "vdot", "addmm", "baddbmm",
    }
)  # fmt: skip
"""Plain arithmetic: what a network does with its input is not in here."""
MOST = 256  # tensors followed in a step (ours)


class Derivative(NamedTuple):
    """One tensor made of a derivative without a graph."""

    tensor: weakref.ref[Tensor]
    raw: RawFrames
    """The line that asked for the derivative."""
    weights: frozenset[int]
    """Ids of the parameters that the function hangs on."""
    after: frozenset[tuple[bool, int]]
    """The inputs of the derivative, by `origin`."""
    summed: RawFrames
    """The line that added it to a value with a graph; () before."""


class ConstantDerivativesObserver(Observer):
    """Follows identities; keeps no tensor alive and reads no value."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.found: dict[int, Derivative] = {}
        self.ends: dict[int, Derivative] = {}
        """Number of the node of a scalar -> what it is made of."""

    def reset(self) -> None:
        self.forget()

    def missed(self) -> None:
        """Forget what was made in a step that was not seen to its end."""
        self.forget()

    def forget(self) -> None:
        """Drop what was followed in the step."""
        self.found.clear()
        self.ends.clear()

    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Begin at autograd.grad and go on through arithmetic; what is detached, or made without gradients, is meant as
        a constant."""
        if not torch.is_grad_enabled():
            return
        if function is torch.autograd.grad:
            self.begin(args, kwargs, output)
        elif self.found:
            name = getattr(function, "__name__", "").strip("_")
            if name in ALONG or name in SUMS or name in ELEMENTWISE:
                self.go_on(name, args, kwargs, output)

    def begin(self, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Remember derivatives without a graph, of what parameters made, after an input that none of them made."""
        made = [value for value in tensors(output) if not value.requires_grad]
        given = dict(zip(("outputs", "inputs"), args, strict=False)) | kwargs
        inputs = list(tensors(given.get("inputs")))
        if not made or any(isinstance(value, nn.Parameter) for value in inputs):
            return
        reached = parameter_ids(leaves(list(tensors(given.get("outputs"))), MOST_PART_NODES))
        if reached and not parameter_ids(leaves(inputs, MOST_PART_NODES)):
            after = frozenset(map(origin, inputs))
            raw = raw_frames(2)
            for value in made:
                self.keep(value, Derivative(WeakRef(value), raw, reached, after, ()))

    def go_on(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Follow one call that takes what is followed."""
        given = list(tensors((args, kwargs)))
        known = [one for value in given if (one := self.of(value)) is not None]
        if not known:
            return
        summed = next((one for one in known if one.summed), None)
        for value in tensors(output):
            if not has_graph(value):
                self.keep(value, known[0]._replace(tensor=WeakRef(value), summed=()))
            elif summed is not None:
                self.keep(value, summed._replace(tensor=WeakRef(value)))
            elif self.mixes(name, args, known[0], (one for one in given if one is not value), value):
                self.keep(value, known[0]._replace(tensor=WeakRef(value), summed=raw_frames(2)))

    def mixes(
        self, name: str, args: tuple[Any, ...], known: Derivative, given: Iterable[Tensor], output: Tensor
    ) -> bool:
        """Whether it is added to a value that the same parameters made of the same input: a perturbed input is not. A
        whole term of a loss is another matter."""
        if name in SUMS:
            added = output.numel() > 1
        else:
            # as the target of such a loss it may be meant as a constant
            added = name in ELEMENTWISE and bool(args) and self.of(args[0]) is known
        partners = [value for value in given if value.requires_grad] if added else []
        found = leaves(partners, MOST_PART_NODES)
        if known.weights.isdisjoint(parameter_ids(found)):
            return False
        inner = {number for is_leaf, number in known.after if not is_leaf}
        if inner and not inner.isdisjoint(numbers(partners, MOST_PART_NODES)):
            return True
        return any(number in found for is_leaf, number in known.after if is_leaf)

    def of(self, value: Any) -> Derivative | None:
        """What is known of a tensor."""
        known = self.found.get(id(value))
        return known if known is not None and known.tensor() is value else None

    def keep(self, value: Tensor, derivative: Derivative) -> None:
        """Remember a tensor, and the node of a number."""
        if len(self.found) < MOST or id(value) in self.found:
            self.found[id(value)] = derivative
        node = node_of(value) if derivative.summed and value.numel() == 1 else None
        if node is not None and len(self.ends) < MOST:
            self.ends[int(node._sequence_nr())] = derivative

    @inspected
    def backward_begins(self, losses: list[Tensor]) -> None:
        """Emit those that lie in the graph of a loss."""
        if not self.ends:
            return
        reached = numbers(loss for loss in losses if loss.grad_fn is not None)
        told = {(one.raw, one.summed) for node, one in self.ends.items() if node in reached}
        for raw, summed in sorted(told, key=lambda lines: [line for _, line in lines[0]]):
            self.run.emit(ConstantTerm(ref=self.run.ref(), frame=first(raw), sum_frame=first(summed), mixed=True))

    @inspected
    def step_closed(self, optimizer: Optimizer) -> None:
        """Forget what was followed in the step."""
        self.forget()


def origin(value: Tensor) -> tuple[bool, int]:
    """What stands for an input in a graph: True and the id of a leaf, or False and the number of a node."""
    node = node_of(value)
    return (True, id(value)) if node is None else (False, int(node._sequence_nr()))
