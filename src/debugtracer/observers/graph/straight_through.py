"""Finds sums that take a tensor and give it back (`x + (q - x)`), to give the gradient of one to the other, and do
not."""

from __future__ import annotations

import os
import sys
import weakref
from types import FrameType
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor
from torch.optim import Optimizer

from debugtracer.callsites.frames import TORCH_HOME, USER, RawFrames, frames_of, place_of, raw_frames
from debugtracer.observers.graph.graph_walk import numbers
from debugtracer.observers.loss.loss_terms import SIGNS
from debugtracer.observers.model.running_module import running_module
from debugtracer.observers.model.shadow_model import is_dense
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected, of_functions
from debugtracer.recorder.state.weak import WeakRef
from debugtracer.trace.facts.straight_through import StraightThrough

DETACHES = frozenset({"detach", "detach_"})
DISTRIBUTIONS = os.path.join(TORCH_HOME, "distributions")
MOST = 512  # sums followed in a step (ours)
TERMS = 3  # of such a sum


class SumPart(NamedTuple):
    """One term of a sum."""

    tensor: weakref.ref[Tensor]
    sign: int
    graph: bool


class TensorSum(NamedTuple):
    """The terms of a tensor that was added up, the number of its node and its line."""

    tensor: weakref.ref[Tensor]
    parts: tuple[SumPart, ...]
    node: int
    raw: RawFrames


class Suspect(NamedTuple):
    """Such a sum, and what is told of it if the graph of the loss bears it out."""

    how: Literal["detached", "cancels"]
    shape: tuple[int, ...]
    node: int
    module: str
    raw: RawFrames


class StraightThroughObserver(Observer):
    """Follows identities; keeps no tensor alive and reads no value."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.sums: dict[int, TensorSum] = {}
        self.suspects: list[Suspect] = []

    def reset(self) -> None:
        self.forget()

    def missed(self) -> None:
        """Forget what was added up in a step that was not seen to its end."""
        self.forget()

    def forget(self) -> None:
        """Drop what was followed in the step."""
        self.sums.clear()
        self.suspects.clear()

    @of_functions(DETACHES, SIGNS)
    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Follow sums of tensors of one shape, and note one that loses its graph."""
        name = getattr(function, "__name__", "")
        if name in DETACHES and args and self.sums:
            self.detached(args[0], raw_frames(1))
            return
        signs = SIGNS.get(name)
        if signs is None or len(args) != 2 or kwargs or len(self.sums) >= MOST or not torch.is_grad_enabled():
            return
        if not isinstance(output, Tensor) or output.grad_fn is None or not is_dense(output) or output.dim() == 0:
            return
        if not all(isinstance(a, Tensor) and is_dense(a) and a.shape == output.shape for a in args):
            return
        parts = tuple(part for value, sign in zip(args, signs, strict=True) for part in self.parts_of(value, sign))
        if len(parts) <= TERMS:
            found = TensorSum(WeakRef(output), parts, int(output.grad_fn._sequence_nr()), raw_frames(1))
            self.sums[id(output)] = found
            if all(given_back(found)) and not in_distribution():
                self.suspects.append(self.suspect("cancels", found, output, found.raw))

    def parts_of(self, value: Tensor, sign: int) -> tuple[SumPart, ...]:
        """The terms that a tensor brings into a sum: those of a sum, or itself."""
        known = self.sums.get(id(value))
        if known is None or known.tensor() is not value:
            return (SumPart(WeakRef(value), sign, value.requires_grad),)
        return tuple(part._replace(sign=sign * part.sign) for part in known.parts)

    def detached(self, value: Any, raw: RawFrames) -> None:
        """Note a sum that is taken out of the graph whole."""
        known = self.sums.get(id(value))
        if known is not None and isinstance(value, Tensor) and known.tensor() is value and all(given_back(known)):
            self.suspects.append(self.suspect("detached", known, value, raw))

    def suspect(self, how: Literal["detached", "cancels"], found: TensorSum, value: Tensor, raw: RawFrames) -> Suspect:
        """Write down what is known where it happens."""
        module = running_module()
        return Suspect(how, tuple(value.shape), found.node, type(module).__name__ if module is not None else "", raw)

    @inspected
    def backward_begins(self, losses: list[Tensor]) -> None:
        """Emit what the graph of the loss bears out: a sum that was detached for a log is in it all the same."""
        if not self.suspects:
            return
        reached = numbers(loss for loss in losses if loss.grad_fn is not None)
        detached = {one.node for one in self.suspects if one.how == "detached"}
        for one in self.suspects:
            inside = one.node in reached
            if inside if one.how == "cancels" else not inside:
                if one.how == "cancels" and one.node in detached:
                    continue
                frames = frames_of(one.raw)
                self.run.emit(
                    StraightThrough(
                        ref=self.run.ref(), how=one.how, shape=one.shape, module=one.module,
                        frame=frames[0] if frames else None,
                    )
                )  # fmt: skip
        self.suspects.clear()

    @inspected
    def step_closed(self, optimizer: Optimizer) -> None:
        """Forget what was followed in the step."""
        self.forget()


def given_back(found: TensorSum) -> tuple[bool, ...]:
    """The sides on which a tensor that is added and taken away again has a graph; (False,) for other sums. One that is
    gone may have left its memory to another."""
    if len(found.parts) != TERMS:
        return (False,)
    alive = [(part, tensor) for part in found.parts if (tensor := part.tensor()) is not None]
    for place, (one, tensor) in enumerate(alive):
        for other, same in alive[place + 1 :]:
            if one.sign == -other.sign and is_same(tensor, same):
                return one.graph, other.graph
    return (False,)


def is_same(one: Tensor, other: Tensor) -> bool:
    """Whether two dense tensors are the same values of one memory: a transpose of a square one is not."""
    return one.data_ptr() == other.data_ptr() and one.shape == other.shape and one.stride() == other.stride()


def in_distribution() -> bool:
    """Whether the program has called a distribution of torch, which takes the mean away from what it drew around it:
    the gradient of the mean cancels in its density, and is to."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and place_of(frame.f_code) != USER:
        if frame.f_code.co_filename.startswith(DISTRIBUTIONS):
            return True
        frame = frame.f_back
    return False
