"""Follows the gradients that the objective of one optimizer leaves in the network of another."""

from __future__ import annotations

import weakref
from typing import Any

from torch import Tensor
from torch.optim import Optimizer

from debugtracer.callsites.frames import RawFrames, raw_frames
from debugtracer.callsites.line import first
from debugtracer.observers.graph.graph_walk import leaves
from debugtracer.observers.graph.passing_through import reached_past
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer
from debugtracer.observers.optimizer.gradient_use import has_value
from debugtracer.recorder.run_state import parameters
from debugtracer.recorder.state.identity import ById
from debugtracer.trace.facts.critic_gradient import CriticGradient

BACKWARDS = 24  # looked at from the start (ours): three rounds of a GAN with five updates of its critic each
LOOKS = 8  # gradients asked for a value other than 0 (ours)


class Left:
    """What a backward left in the network that it only passed through."""

    def __init__(self, other: Optimizer, marks: dict[int, int], raw: RawFrames, cleared: RawFrames) -> None:
        self.other = weakref.ref(other)
        self.marks, self.raw, self.cleared = marks, raw, cleared
        self.stepped = False
        """The optimizer whose objective it was has used its own share."""
        self.added: RawFrames = ()
        """The backward that added to these gradients."""


class CriticGradientsObserver(Observer):
    """Walks the graphs of the first backwards where two optimizers live; one optimizer costs nothing."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.leftover: ById[Optimizer, Left] = ById()
        self.passed: list[tuple[Optimizer, Optimizer]] = []
        """The pairs of the backward in flight: through whose network, to whose parameters."""
        self.clears: ById[Optimizer, RawFrames] = ById()
        self.count = self.number = 0

    def reset(self) -> None:
        self.leftover.clear()
        self.passed, self.count, self.number = [], 0, 0

    def missed(self) -> None:
        """Forget what was left: it may have been cleared."""
        self.leftover.clear()

    def live(self) -> list[tuple[Optimizer, dict[int, Tensor]]]:
        """The optimizers with their parameters."""
        return [(o, {id(p): p for p in parameters(o)}) for o in self.run.optimizers]

    def optimizer_built(self, optimizer: Optimizer) -> None:
        """Listen to all where a second one has come."""
        if self.count <= BACKWARDS:
            self.run.subscribe(self.backward_ended, self.zeroed, self.step_begins, self.step_ended)

    def backward_begins(self, losses: list[Tensor]) -> None:
        """Ask which networks the gradient only passes through, and which gradients left there are added to."""
        self.count += 1
        self.passed = []
        if self.count > BACKWARDS:
            self.leftover.clear()
            self.run.unsubscribe(self.backward_begins, self.backward_ended, self.zeroed, self.step_begins)
            self.run.unsubscribe(self.step_ended)
            return
        if len(self.run.optimizers) < 2:
            self.run.unsubscribe(self.backward_ended, self.zeroed, self.step_begins, self.step_ended)
            return
        live = self.live()
        reached = set(leaves(losses))
        mine = [(o, held) for o, held in live if reached & held.keys()]
        for critic, held in mine:
            for other, others in mine:
                apart = other is not critic and not held.keys() & others.keys()
                if apart and not reached_past(losses, set(held)) & others.keys():
                    self.passed.append((critic, other))
        for critic, held in mine:
            left = self.leftover.get(critic)
            if left is not None and not any(critic is c for c, _ in self.passed) and stands(held, left.marks):
                left.added = left.added or raw_frames(1)

    def backward_ended(self, losses: list[Tensor]) -> None:
        """Remember the gradients of the networks that were passed through, where they were empty before."""
        for critic, other in self.passed:
            marks = {id(p): id(p.grad) for p in parameters(critic) if p.grad is not None}
            self.leftover[critic] = Left(other, marks, raw_frames(1), self.clears.get(critic) or ())
        self.passed = []

    def zeroed(self, owner: Any) -> None:
        """Forget what was left in parameters that are cleared."""
        ids = {id(p) for p in (parameters(owner) if isinstance(owner, Optimizer) else owner.parameters())}
        for optimizer in self.run.optimizers:
            if ids & {id(p) for p in parameters(optimizer)}:
                self.leftover.pop(optimizer, None)
                self.clears[optimizer] = raw_frames(1)

    def step_begins(self, optimizer: Optimizer) -> None:
        """Emit an update that uses what another objective left."""
        left = self.leftover.pop(optimizer, None)
        other = left.other() if left is not None else None
        if left is None or other is None or not left.stepped or not left.added:
            return
        self.number += 1
        numbers = {id(o): n for n, o in enumerate(self.run.optimizers)}
        self.run.emit(
            CriticGradient(
                ref=self.run.ref("update", self.run.iteration - 1),
                optimizer=numbers.get(id(optimizer), -1),
                kind=type(optimizer).__name__,
                built=self.run.built_at(optimizer),
                other=numbers.get(id(other), -1),
                other_kind=type(other).__name__,
                other_built=self.run.built_at(other),
                number=self.number - 1,
                parameters=len(left.marks),
                backward=first(left.raw),
                added=first(left.added),
                cleared=first(left.cleared),
                step=first(raw_frames(1)),
            )
        )

    def step_ended(self, optimizer: Optimizer) -> None:
        """Note that an optimizer has used its own share of its objective."""
        for left in self.leftover.values():
            left.stepped = left.stepped or left.other() is optimizer


def stands(held: dict[int, Tensor], marks: dict[int, int]) -> bool:
    """Whether these gradients are still the same tensors and not all 0."""
    same = [p for key, p in held.items() if p.grad is not None and marks.get(key) == id(p.grad)]
    return any(has_value(p.grad) for p in same[:LOOKS])
