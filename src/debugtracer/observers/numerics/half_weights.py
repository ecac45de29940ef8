"""Finds the line that made the weights of an optimizer half-precision ones."""

from __future__ import annotations

from torch.optim import Optimizer

from debugtracer.callsites.origins.half_cast import half_cast
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected
from debugtracer.recorder.state.identity import ById
from debugtracer.recorder.tape.entry import HALF
from debugtracer.trace.facts.half_weights import HalfWeights

MOST = 16  # optimizers that are looked at (ours)


class HalfWeightsObserver(Observer):
    """Reads dtypes once for each optimizer, and the source where one is half precision."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.known: ById[Optimizer, bool] = ById()

    def reset(self) -> None:
        self.known.clear()

    @inspected
    def step_begins(self, optimizer: Optimizer) -> None:
        """Look at an optimizer at its first step that is inspected."""
        if optimizer in self.known or len(self.known) >= MOST:
            return
        self.known[optimizer] = True
        if any(weight.dtype in HALF for group in optimizer.param_groups for weight in group["params"]):
            built = self.run.built_at(optimizer)
            cast = half_cast((built,)) if built is not None else None
            if cast is not None:
                self.run.emit(HalfWeights(ref=self.run.ref("update"), optimizer=type(optimizer).__name__, cast=cast))
