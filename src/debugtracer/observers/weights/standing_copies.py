"""Finds a copy of the trained model that is evaluated again and again and never changes, where the loop that would
write it goes through an iterator that is used up."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from debugtracer.callsites.spent_iterator import SpentIterator, spent_iterator
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer
from debugtracer.observers.weights.fresh_statistics import is_twin
from debugtracer.observers.weights.original_model import distance
from debugtracer.observers.weights.weight_samples import WeightSamples
from debugtracer.recorder.run_state import parameters
from debugtracer.recorder.state.identity import ById
from debugtracer.trace.facts.stale_copy import StaleCopy, UsedUp
from debugtracer.trace.number import number

APART = 5  # steps between two looks at a copy that is evaluated (ours)
MOST_CALLS = 256  # calls that are looked at (ours)
MOST = 8  # copies (ours)


class StandingCopiesObserver(Observer):
    """Hears one call where the program has no such iterator, and nothing more once a copy has moved."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.calls = 0
        self.spent: SpentIterator | None = None
        self.known: ById[nn.Module, tuple[int, WeightSamples]] = ById()

    def reset(self) -> None:
        self.calls = 0
        self.known.clear()

    def left(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Look at a model that is called without a graph, at most every few steps."""
        if len(self.run.optimizers) == 0:
            return
        self.spent = self.spent or spent_iterator()
        if self.spent is None:
            self.run.unsubscribe(self.left)
            return
        if torch.is_grad_enabled():
            return
        self.calls += 1
        if self.calls >= MOST_CALLS:
            self.run.unsubscribe(self.left)
        known, step = self.known.get(module), self.run.step
        if known is None:
            if len(self.known) < MOST and self.trained(module) is not None:
                self.known[module] = step, WeightSamples(list(module.parameters()))
        elif step - known[0] >= APART:
            self.compare(module, *known)

    def trained(self, module: nn.Module) -> nn.Module | None:
        """The model that an optimizer trains and that this is a copy of."""
        alike = [m for m in self.run.modules() if m is not module and type(m) is type(module)]
        held = {id(p) for optimizer in self.run.optimizers for p in parameters(optimizer)} if alike else set()
        return next((m for m in alike if is_twin(m, module, held)), None)

    def compare(self, module: nn.Module, since: int, held: WeightSamples) -> None:
        """Emit a copy that stands where it stood."""
        trained = self.trained(module)
        apart = distance(module, trained) if trained is not None and held.stand() else None
        self.run.unsubscribe(self.left)
        if not apart or self.spent is None:
            return
        self.run.emit(
            StaleCopy(
                ref=self.run.ref("update", self.run.iteration - 1), module=type(module).__name__,
                updates=self.run.step - since, apart=number(apart), frame=self.spent.frame, called=self.run.here(),
                spent=UsedUp(name=self.spent.name, used_up=self.spent.used_up, empty=self.spent.empty),
            )
        )  # fmt: skip
