"""Follows gradients that torch.autograd.grad gave without a graph: do they become a term of a loss?"""

from __future__ import annotations

import weakref
from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer

from debugtracer.callsites.frames import RawFrames, frames_of, raw_frames
from debugtracer.observers.graph.graph_walk import numbers
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected
from debugtracer.recorder.tape.entry import tensors
from debugtracer.trace.facts.constant_term import ConstantTerm

SUMS = frozenset({"add", "__add__", "__radd__", "__iadd__", "add_", "sub", "__sub__", "__rsub__", "__isub__"})
MOST = 256  # tensors followed in a step (ours)


class ConstantTermsObserver(Observer):
    """Follows identities; keeps no tensor alive and reads no value."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.made: dict[int, tuple[weakref.ref[Tensor], RawFrames]] = {}
        """id -> a tensor made of such gradients alone, and the line that asked for them."""
        self.summed: dict[int, tuple[RawFrames, RawFrames]] = {}
        """Number of the node of a sum -> that line, and the line of the sum."""

    def reset(self) -> None:
        self.forget()

    def missed(self) -> None:
        """Forget what was made in a step that was not seen to its end."""
        self.forget()

    def forget(self) -> None:
        """Drop what was followed in the step."""
        self.made.clear()
        self.summed.clear()

    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Begin at autograd.grad, go on through what is made of it, and note where it is added to a loss."""
        if self.begins(function, args, kwargs, output):
            if torch.is_grad_enabled():
                self.follow(output, raw_frames(1))
        elif self.made and isinstance(output, Tensor):
            source = next((raw for value in tensors((args, kwargs)) if (raw := self.source(value))), ())
            if not source:
                return
            if output.grad_fn is None:
                self.follow(output, source)
            elif output.numel() == 1 and getattr(function, "__name__", "") in SUMS:
                self.summed[int(output.grad_fn._sequence_nr())] = source, raw_frames(1)

    def begins(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> bool:
        """Whether what this call gives is followed."""
        return function is torch.autograd.grad

    def source(self, value: Tensor) -> RawFrames:
        """The line whose gradients this tensor is made of; () for any other."""
        known = self.made.get(id(value))
        return known[1] if known is not None and known[0]() is value else ()

    def follow(self, output: Any, source: RawFrames) -> None:
        """Remember tensors without a graph."""
        for value in tensors(output):
            if len(self.made) < MOST and not value.requires_grad and source:
                self.made[id(value)] = weakref.ref(value), source

    @inspected
    def backward_begins(self, losses: list[Tensor]) -> None:
        """Emit the sums that lie in the graph of a loss."""
        if self.summed:
            found = numbers(loss for loss in losses if loss.grad_fn is not None)
            for node in [node for node in self.summed if node in found]:
                source, summed = self.summed.pop(node)
                self.emit(source, summed)

    def emit(self, source: RawFrames, summed: RawFrames) -> None:
        """Write down a sum in the graph of a loss."""
        self.run.emit(ConstantTerm(ref=self.run.ref(), frame=frames_of(source)[0], sum_frame=frames_of(summed)[0]))

    @inspected
    def step_closed(self, optimizer: Optimizer) -> None:
        """Forget what was followed in the step."""
        self.forget()
