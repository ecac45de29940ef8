"""Finds a network that is updated and that no forward reads, beside others of its shapes that are made anew and begin
without its values: a copy that copies nothing."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy
from torch.optim import Optimizer

from debugtracer.callsites.frames import RawFrames, frames_of
from debugtracer.callsites.origins.model_line import copy_line, model_line
from debugtracer.observers.numerics.even_sample import strided
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, always
from debugtracer.observers.weights.weight_samples import is_readable
from debugtracer.recorder.run_state import parameters
from debugtracer.recorder.state.identity import ById
from debugtracer.recorder.state.weak import WeakRef
from debugtracer.trace.facts.fresh_start import FreshStart
from debugtracer.trace.number import number

MOST = 4  # optimizers whose network may be the one that is copied: it is built before the copies (ours)
CALLS = 512  # of models, after which nobody is looked for any more (ours)
FEWEST = 256  # elements of a weight of two dimensions or more, of which two that know nothing of each other are at a
# right angle: the cosine is 0.06 at one standard deviation (ours)
APART = 0.3  # cosine below which a weight did not begin as the other: five of these (ours)
SAMPLE = 4096  # elements that are compared (ours)
NETWORKS = 2  # that begin anew (ours)


class Original:
    """The parameters of one optimizer that no forward has read so far; keeps none of them alive."""

    def __init__(self, optimizer: Optimizer, raw: RawFrames | None) -> None:
        held = parameters(optimizer)
        self.raw, self.kind = raw, type(optimizer).__name__
        self.ids, self.shapes = {id(p) for p in held}, shapes_of(held)
        self.weights = [WeakRef(p) for p in held]
        self.updates = self.networks = 0
        self.near = -1.0
        self.before: list[tuple[int, int]] = []
        """The gradients before a backward."""

    def gradients(self) -> list[tuple[int, int]]:
        """Which gradients there are, and how often each was written."""
        held = [p.grad for r in self.weights if (p := r()) is not None]
        return [(id(g), g._version) for g in held if g is not None]


class FreshStartsObserver(Observer):
    """Listens to calls of models until each optimizer's network has been called: in most programs to the first one."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.originals: ById[Optimizer, Original] = ById()
        self.waiting: ById[Optimizer, bool] = ById()
        """Optimizers that were built after an update of one of them, and have made none."""
        self.calls = 0
        self.read: set[int] = set()
        """Ids of the parameters of the model that was called last."""
        self.heard = (self.entered, self.backward_begins, self.backward_ended, self.step_begins)
        run.unsubscribe(*self.heard)

    def reset(self) -> None:
        self.over()
        self.calls = 0

    def over(self) -> None:
        """Look for nobody any more."""
        self.originals, self.waiting = ById(), ById()
        self.run.unsubscribe(*self.heard)

    def optimizer_built(self, optimizer: Optimizer) -> None:
        """Take in an optimizer, as one of a network that is copied or as one of a copy."""
        held = parameters(optimizer)
        if self.calls > CALLS or not held or any(map(is_lazy, held)):
            return
        shapes = shapes_of(held)
        if any(o.updates and o.shapes == shapes and id(held[0]) not in o.ids for o in self.originals.values()):
            self.waiting[optimizer] = True
        elif self.run.built <= MOST and any(is_weight(p) for p in held):
            self.originals[optimizer] = Original(optimizer, self.run.state.optimizers.get(optimizer))
            self.run.subscribe(*self.heard)

    def missed(self) -> None:
        """Forget all: a forward may have been missed."""
        self.calls = CALLS + 1
        self.over()

    @always
    def entered(self, module: nn.Module, args: tuple[Any, ...]) -> None:
        """Let go of each network that is called."""
        ids = {id(p) for p in module.parameters()}
        for optimizer, original in list(self.originals.items()):
            if not ids.isdisjoint(original.ids):
                del self.originals[optimizer]
        self.read = ids or self.read
        self.calls += 1
        if self.calls > CALLS or not self.originals or self.run.compiles:
            self.over()

    @always
    def backward_begins(self, losses: list[Tensor]) -> None:
        """Note the gradients of each network."""
        for original in self.originals.values():
            original.before = original.gradients()

    @always
    def backward_ended(self, losses: list[Tensor]) -> None:
        """Let go of each network that a backward reaches: its values were read, by a module or without one."""
        for optimizer, original in list(self.originals.items()):
            if original.gradients() != original.before:
                del self.originals[optimizer]

    @always
    def step_begins(self, optimizer: Optimizer) -> None:
        """Count the updates of a network that nobody has called, and look at a copy before its first one."""
        own = self.originals.get(optimizer)
        if own is not None:
            own.updates += any(p.grad is not None for p in parameters(optimizer))
        if self.waiting.pop(optimizer, False):
            for first, original in list(self.originals.items()):
                self.compare(first, original, optimizer)

    def compare(self, first: Optimizer, original: Original, optimizer: Optimizer) -> None:
        """Count a network that has nothing of the original; let go of an original that one of them began as."""
        mine, theirs = [r() for r in original.weights], parameters(optimizer)
        if not original.updates or shapes_of(theirs) != original.shapes or id(theirs[0]) not in self.read:
            return
        pairs = [(one, other) for one, other in zip(mine, theirs, strict=True) if one is not None and is_weight(one)]
        near = [cosine(one, other) for one, other in pairs]
        if not near or not all(one < APART for one in near):  # NaN tells nothing
            del self.originals[first]
            return
        original.near = max(original.near, *near)
        original.networks += 1
        if original.networks == NETWORKS:
            self.tell(original, optimizer)
            del self.originals[first]

    def tell(self, original: Original, optimizer: Optimizer) -> None:
        """Write down an original, with the lines of both."""
        raw = self.run.state.optimizers.get(optimizer)
        built = frames_of(original.raw) if original.raw is not None else ()
        self.run.emit(
            FreshStart(
                ref=self.run.ref("update", self.run.iteration - 1),
                kind=original.kind,
                updates=original.updates,
                networks=original.networks,
                near=number(original.near),
                frame=built[0] if built else None,
                original=model_line(built, original.kind),
                made=copy_line(frames_of(raw), type(optimizer).__name__) if raw is not None else None,
            )
        )


def shapes_of(held: list[Tensor]) -> list[torch.Size]:
    """The shapes of some parameters, in their order."""
    return [p.shape for p in held]


def is_weight(parameter: Tensor) -> bool:
    """Whether it is large enough to tell one random start from another."""
    return parameter.dim() > 1 and parameter.numel() >= FEWEST and is_readable(parameter)


def cosine(one: Tensor, other: Tensor) -> float:
    """The cosine between two weights; NaN where one of them cannot be read."""
    if not is_readable(other):
        return math.nan
    with torch.no_grad():
        mine, theirs = (strided(w.detach().reshape(-1), SAMPLE).double().cpu() for w in (one, other))
        return float(torch.nn.functional.cosine_similarity(mine, theirs, 0))
