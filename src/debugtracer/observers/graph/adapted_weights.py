"""Follows weights that are made of a weight and its gradient, w - rate * g, to the loss of the step: does it know of
them?"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer

from debugtracer.callsites.frames import RawFrames, frames_of, raw_frames
from debugtracer.callsites.line import first
from debugtracer.observers.graph.graph_walk import leaves, node_of, numbers
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected
from debugtracer.recorder.run_state import parameters
from debugtracer.recorder.state.weak import WeakRef
from debugtracer.recorder.tape.entry import tensors
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.adapted_weights import AdaptedWeights

SUMS = frozenset({"add", "__add__", "__radd__", "sub", "__sub__", "__rsub__", "subtract"})
KEEPS = frozenset({"clone", "detach", "requires_grad_", "to", "contiguous", "view", "reshape", "alias", "__get__"})
WRITES = frozenset({"copy_", "set_", "__set__", "swap_tensors"})  # its values are used without a graph
MOST = 4096  # tensors followed in a step (ours)
MOST_CALLS = 512  # calls with weights as they are that are remembered (ours)


class InnerUpdates:
    """What one step has adapted so far."""

    def __init__(self) -> None:
        self.gradients: dict[int, WeakRef[Tensor]] = {}
        """Of weights, and multiples of those."""
        self.adapted: dict[int, WeakRef[Tensor]] = {}
        self.nodes: set[int] = set()
        """Numbers of the nodes that made them."""
        self.origins: set[int] = set()
        """Ids of the weights of the optimizer that they were made of."""
        self.asked: RawFrames = ()
        self.made: RawFrames = ()
        self.backward: RawFrames = ()
        self.calls: dict[int, RawFrames] = {}
        """Node of a call that took a weight as it is -> its lines."""
        self.caller: RawFrames = ()
        """The last of them in the graph of a loss."""
        self.tried = 0
        self.used = self.known = False
        """A loss leads to an adapted weight; one leads to the weights that they were made of."""

    def has(self, value: Any) -> bool:
        """Whether a value is an adapted weight."""
        found = self.adapted.get(id(value))
        return found is not None and found() is value

    def is_gradient(self, value: Any) -> bool:
        """Whether a value is made of the gradient of a weight alone."""
        found = self.gradients.get(id(value))
        return found is not None and found() is value

    def is_weight(self, value: Tensor) -> bool:
        """Whether a value is one of the weights whose gradient was asked for, a clone of one, or an adapted one."""
        node = None if value.is_leaf else node_of(value)
        before = node.next_functions[0][0] if node is not None and len(node.next_functions) == 1 else None
        return id(value) in self.origins or id(getattr(before, "variable", None)) in self.origins or self.has(value)

    def add(self, value: Tensor) -> None:
        """Follow an adapted weight, or a copy of one."""
        if len(self.adapted) < MOST:
            self.adapted[id(value)] = WeakRef(value)
            node = node_of(value)
            if node is not None:
                self.nodes.add(int(node._sequence_nr()))

    def reached(self, losses: list[Tensor]) -> bool:
        """Whether the graph of one of these leads to an adapted weight."""
        return bool(self.nodes & numbers(losses)) or any(self.has(leaf) for leaf in leaves(losses).values())


class AdaptedWeightsObserver(Observer):
    """Follows identities in inspected steps; reads no value and keeps no tensor alive."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.step = InnerUpdates()

    def reset(self) -> None:
        self.step = InnerUpdates()

    def missed(self) -> None:
        """Forget what was made in a step that was not seen to its end."""
        self.reset()

    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Begin at autograd.grad, note what is made of a weight and its gradient, and who takes it."""
        step = self.step
        if function is torch.autograd.grad:
            self.asked(args, output)
        elif step.gradients and isinstance(output, Tensor):
            name = getattr(function, "__name__", "")
            given = [*tensors((args, kwargs))]
            if any(map(step.has, given)) and not any(map(step.is_gradient, given)):
                self.taken(name, output)
            elif any(map(step.is_gradient, given)):
                self.combined(name, given, output)
            elif len(step.calls) < MOST_CALLS and any(id(one) in step.origins for one in given):
                node = node_of(output)
                if node is not None:
                    step.calls[int(node._sequence_nr())] = raw_frames(1)

    def asked(self, args: tuple[Any, ...], output: Any) -> None:
        """Note gradients of weights, or a gradient that leads through adapted ones to something else."""
        step, inputs = self.step, [*tensors(args[1:2])]
        if step.adapted and not any(map(step.has, inputs)) and step.reached([*tensors(args[:1])]):
            step.used = True
        held = {id(p) for optimizer in self.run.optimizers for p in parameters(optimizer)}
        pairs = zip(inputs, output, strict=True) if isinstance(output, tuple) else ()
        for weight, gradient in pairs:
            if isinstance(gradient, Tensor) and (id(weight) in held or step.has(weight)):
                step.asked = step.asked or raw_frames(2)
                step.origins.update({id(weight)} & held)
                if len(step.gradients) < MOST:
                    step.gradients[id(gradient)] = WeakRef(gradient)

    def combined(self, name: str, given: list[Tensor], output: Tensor) -> None:
        """Follow a multiple of a gradient, and a weight that one is added to."""
        step = self.step
        others = [one for one in given if not step.is_gradient(one)]
        weight = next((one for one in others if step.is_weight(one)), None)
        if weight is None:
            if all(one.numel() == 1 for one in others) and any(one.shape == output.shape for one in given):
                step.gradients[id(output)] = WeakRef(output)
        elif name in SUMS and weight.shape == output.shape:
            step.made = step.made or raw_frames(2)
            step.add(output)

    def taken(self, name: str, output: Tensor) -> None:
        """Note a call that takes an adapted weight."""
        step = self.step
        if name in WRITES:
            step.used = True
        elif name in KEEPS:
            step.add(output)
        elif node_of(output) is not None:
            step.tried += 1

    @inspected
    def backward_begins(self, losses: list[Tensor]) -> None:
        """Note whether the loss leads to adapted weights, or to the others alone."""
        step = self.step
        if not step.adapted or step.used:
            return
        step.used = step.reached(losses)
        step.known = step.known or step.origins <= leaves(losses).keys()
        step.backward = raw_frames(1)
        found = numbers(losses)
        step.caller = next((raw for node, raw in reversed(step.calls.items()) if node in found), step.caller)

    @inspected
    def step_closed(self, optimizer: Optimizer) -> None:
        """Emit weights that nothing of the step knows of, and begin anew."""
        step, self.step = self.step, InnerUpdates()
        held = {id(p) for p in parameters(optimizer)}
        if step.adapted and step.known and not step.used and step.origins <= held:
            self.run.emit(
                AdaptedWeights(
                    ref=self.run.ref(), weights=len(step.origins), tensors=len(step.nodes), tried=step.tried,
                    frame=parted(step.caller, step.asked) or first(step.backward), made_frame=first(step.made),
                    backward_frame=first(step.backward),
                )
            )  # fmt: skip


def parted(raw: RawFrames, other: RawFrames) -> Frame | None:
    """The line at which one stack leaves another, seen from the outside."""
    same = 0
    for one, two in zip(reversed(raw), reversed(other), strict=False):
        if one != two:
            break
        same += 1
    left = frames_of(raw[: len(raw) - same])
    return left[-1] if left else None
