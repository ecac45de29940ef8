"""Detects where one training ends and another begins: folds, stages, a second model, a load of other weights."""

from __future__ import annotations

from typing import Any

from torch import Tensor
from torch.optim import Optimizer

from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer
from debugtracer.recorder.run_state import parameters
from debugtracer.recorder.state.identity import ById
from debugtracer.trace.facts.new_training import NewTraining

LEAST = 8  # updates of the training before: optimizers that take turns (GAN) have all begun by then (ours)


class NewTrainingObserver(Observer):
    """A lookup per update; parameters are compared only at the first update of an optimizer."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.known: ById[Optimizer, bool] = ById()
        self.trained: ById[Tensor, bool] = ById()
        """Parameters of the optimizers that have made an update."""
        self.loaded = False
        """Trained parameters were overwritten since the last update."""
        self.updates = 0

    def reset(self) -> None:
        self.known, self.trained, self.loaded, self.updates = ById(), ById(), False, 0

    def restored(self, word: str, owner: Any) -> None:
        """Note a load that overwrites most of what was trained; a target network or an average is none."""
        held = list(owner.parameters()) if word == "weights" and self.updates else []
        if held and sum(p in self.trained for p in held) > len(held) / 2:
            self.loaded = True

    def step_begins(self, optimizer: Optimizer) -> None:
        """Emit the first update over parameters that nobody has updated, or the first after a load."""
        why = "load" if self.loaded else ""
        self.loaded = False
        if optimizer not in self.known:
            self.known[optimizer] = True
            held = parameters(optimizer)
            if self.updates >= LEAST and held and not any(p in self.trained for p in held):
                why = "parameters"
            for parameter in held:
                self.trained[parameter] = True
        if why:
            self.run.emit(NewTraining(ref=self.run.ref("update", self.run.iteration - 1), why=why, before=self.updates))
            self.updates = 0
        self.updates += 1
