"""Follows the gradients at the scores that one network gives to what another one made: which way each update pushes
them."""

from __future__ import annotations

import functools
import weakref
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from debugtracer.callsites.frames import RawFrames, raw_frames
from debugtracer.callsites.line import first
from debugtracer.errors import guarded
from debugtracer.observers.graph.graph_walk import leaves
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, of_functions
from debugtracer.recorder.run_state import parameters
from debugtracer.recorder.state.weak import WeakRef
from debugtracer.trace.facts.score_gradient import ScoreGradient

BACKWARDS = 48  # looked at from the start (ours): six rounds of a GAN with seven updates of its critic each
MOST_CALLS = 16  # scores kept until the next update (ours)
MOST_MADE = 32  # results of a network without a graph that are remembered (ours)


@dataclass
class Scores:
    """One call of a network that gives scores, until the update that uses it."""

    critic: weakref.ref[Optimizer]
    generator: weakref.ref[Optimizer] | None
    """Who made what it was given; None: nobody that is trained."""
    raw: RawFrames
    up: list[Tensor] = field(default_factory=list)
    """Numbers of gradients that raise a score, and of those that are not 0; shape (2,) each."""


class ScoreGradientsObserver(Observer):
    """Listens to the gradients of the first root calls where two optimizers live; one optimizer costs nothing."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.calls: list[Scores] = []
        self.made: list[tuple[weakref.ref[Tensor], weakref.ref[Optimizer]]] = []
        """Tensors without a graph that a trained network made."""
        self.count = self.number = 0
        self.backward: RawFrames = ()

    def reset(self) -> None:
        self.calls, self.made, self.count, self.number = [], [], 0, 0

    def missed(self) -> None:
        """Forget the calls before: their updates may be over."""
        self.calls, self.made = [], []

    @of_functions(("detach", "__get__"))
    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Remember what a network made where its graph is cut off."""
        if getattr(function, "__name__", "") not in ("detach", "__get__") or len(self.run.optimizers) < 2:
            return
        if is_plain(output) and not output.requires_grad and args and isinstance(args[0], Tensor):
            generator = self.generator_of(args[0])
            if generator is not None:
                self.remember(output, generator)

    def left(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Listen to the gradient of what a root call gave."""
        if len(self.run.optimizers) < 2 or not isinstance(output, Tensor) or not output.is_floating_point():
            return
        owner = self.owner_of(module)
        if owner is None:
            return
        if not output.requires_grad:
            if is_plain(output):
                self.remember(output, owner)
        elif args and is_plain(args[0]) and len(self.calls) < MOST_CALLS:
            generator = self.generator_of(args[0], owner)
            if generator is None and args[0].requires_grad:
                return  # a penalty on the derivative: its call is no verdict
            scores = Scores(
                weakref.ref(owner), weakref.ref(generator) if generator is not None else None, raw_frames(1)
            )
            output.register_hook(guarded("score_gradients.note")(functools.partial(note, scores)))
            self.calls.append(scores)

    def remember(self, tensor: Tensor, generator: Optimizer) -> None:
        """Keep a weak reference to a tensor that a trained network made."""
        self.made = [*self.made[-MOST_MADE:], (WeakRef(tensor), weakref.ref(generator))]

    def owner_of(self, module: nn.Module) -> Optimizer | None:
        """The one optimizer that holds parameters of a module."""
        held = {id(p) for p in module.parameters()}
        owners = [o for o in self.run.optimizers if any(id(p) in held for p in parameters(o))]
        return owners[0] if len(owners) == 1 else None

    def generator_of(self, given: Tensor, critic: Optimizer | None = None) -> Optimizer | None:
        """The optimizer of the network that made a tensor, other than the critic's."""
        if given.requires_grad:
            reached = set(leaves([given]))
            generators = [o for o in self.run.optimizers if reached & {id(p) for p in parameters(o)}]
            return generators[0] if len(generators) == 1 and generators[0] is not critic else None
        for reference, made_by in reversed(self.made):
            tensor, generator = reference(), made_by()
            if tensor is not None and generator is not None and generator is not critic and share_memory(tensor, given):
                return generator
        return None

    def backward_begins(self, losses: list[Tensor]) -> None:
        """Note the line; end after the first ones."""
        self.count += 1
        self.backward = raw_frames(1)
        if self.count > BACKWARDS:
            self.missed()
            self.run.unsubscribe(self.called, self.left, self.backward_begins, self.step_begins)

    def optimizer_built(self, optimizer: Optimizer) -> None:
        """Listen where a second one has come."""
        if self.count <= BACKWARDS:
            self.run.subscribe(self.called, self.left, self.backward_begins, self.step_begins)

    def step_begins(self, optimizer: Optimizer) -> None:
        """Emit which way this update pushes the scores, where it is one of critic or generator."""
        if len(self.run.optimizers) < 2:
            self.run.unsubscribe(self.called, self.left, self.backward_begins, self.step_begins)
            return
        heard = [scores for scores in self.calls if scores.up]
        if not heard:
            return
        self.calls = []
        made = [s for s in heard if s.generator is not None]
        critic, generator = (made[0].critic(), made[0].generator) if made else (None, None)
        if critic is not None and generator is not None and optimizer in (critic, generator()):
            self.emit(optimizer, made[0], [s for s in heard if s.critic() is critic])

    def emit(self, optimizer: Optimizer, scores: Scores, heard: list[Scores]) -> None:
        """Write down which way the scores of the same critic were pushed."""
        up = share_up([s for s in heard if s.generator is not None])
        if up is None:
            return
        numbers = {id(o): n for n, o in enumerate(self.run.optimizers)}
        self.number += 1
        self.run.emit(
            ScoreGradient(
                ref=self.run.ref("update", self.run.iteration - 1),
                critic=numbers.get(id(scores.critic()), -1),
                generator=numbers.get(id(scores.generator()) if scores.generator is not None else 0, -1),
                by_critic=optimizer is scores.critic(),
                number=self.number - 1,
                generated_raised=up,
                real_raised=share_up([s for s in heard if s.generator is None]),
                kind=type(optimizer).__name__,
                built=self.run.built_at(optimizer),
                called=first(scores.raw),
                backward=first(self.backward),
            )
        )


def note(scores: Scores, gradient: Tensor) -> None:
    """Count the gradients that raise a score: an update goes against them."""
    with torch.no_grad(), torch._C.DisableTorchFunction():
        scores.up.append(torch.stack([(gradient < 0).sum(), (gradient != 0).sum()]))


def share_up(calls: list[Scores]) -> float | None:
    """The share of gradients that raise their score; None without any. Waits for the device."""
    counts = [pair.tolist() for scores in calls for pair in scores.up]
    every = sum(pair[1] for pair in counts)
    return sum(pair[0] for pair in counts) / every if every else None


def is_plain(value: Any) -> bool:
    """Whether a value is a dense tensor with memory of its own: not sparse, nested or of another class."""
    return type(value) in (Tensor, nn.Parameter) and value.layout is torch.strided and not value.is_nested


def share_memory(a: Tensor, b: Tensor) -> bool:
    """Whether two tensors lie in the same memory."""
    return a is b or a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr()
