"""The critical learning rate: how far along the update of a step its own loss still does not rise.

What it tells: (docs/rationale/inference.md#critical-lr)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch

from debugtracer.errors import ReplayRefused
from debugtracer.interventions.intervention import interventions
from debugtracer.replay.reexecute import Reexecution
from debugtracer.replay.trials.healthy_step import probe_of
from debugtracer.replay.trials.history_trials import HistoryTrials

# times the update (ours): a rate further off than this is neither too high nor near it
FURTHEST, NEAREST = 64.0, 1 / 1024
HALVINGS = 4  # of the interval, in the exponent: the answer is within a tenth


@dataclass(frozen=True)
class CriticalLr:
    """The rate in force, and the largest one whose update does not raise the loss of its own batch."""

    lr: float
    critical: float
    """inf: even the longest update tried lowers the loss; 0: even the shortest raises it."""

    @property
    def ratio(self) -> float:
        """The critical rate over the actual one: below 1 the rate is too high for this step."""
        return self.critical / self.lr if self.lr else math.inf

    @property
    def description(self) -> str:
        """Describe the critical rate in one sentence."""
        if self.critical == 0:
            return (
                "the update of the step raises the loss of its own batch at any length down to lr = "
                f"{self.lr * NEAREST:.3g}"
            )
        if math.isinf(self.critical):
            return (
                f"the update of the step lowers the loss of its own batch even {FURTHEST:g} times as long: lr = "
                f"{self.lr:.3g} is not too high for it"
            )
        verb = "too high" if self.ratio < 1 else "within it"
        return (
            f"the update of the step lowers the loss of its own batch up to lr = {self.critical:.3g}; the rate is "
            f"{self.lr:.3g}, {verb}"
        )


def critical_lr(trials: HistoryTrials) -> CriticalLr | None:
    """Search along the last update, about ten forward passes; None where it cannot be made. Syncs the host; the world
    is put back by the trials."""
    found = probe_of(trials.last)
    rates = [float(g["lr"]) for o in trials.optimizers for g in o.param_groups if "lr" in g]
    if found is None or not rates or trials.run(interventions()["unchanged"]).refused or not trials.last_update:
        return None
    plan, slot = found
    start, step = trials.last_update

    def loss_at(times: float) -> float:
        with torch.no_grad():
            for parameter, at, change in zip(trials.parameters(), start, step, strict=True):
                parameter.data.copy_(at + times * change)
        run = Reexecution(plan, trials.context.backward)
        run.run()
        return float(run.values[slot.segment, slot.entry][slot.output].detach())

    try:
        return CriticalLr(rates[0], rates[0] * furthest(loss_at))
    except (ReplayRefused, KeyError, IndexError, ValueError):
        return None


def furthest(loss_at: Callable[[float], float]) -> float:
    """The largest number of times the update whose loss is not above that of no update."""
    base = loss_at(0.0)

    def good(times: float) -> bool:
        return loss_at(times) <= base

    if good(1.0):
        low, high = 1.0, 4.0
        while high <= FURTHEST and good(high):
            low, high = high, high * 4
        if high > FURTHEST:
            return math.inf
    else:
        low, high = 0.25, 1.0
        while low >= NEAREST and not good(low):
            low, high = low / 4, low
        if low < NEAREST:
            return 0.0
    for _ in range(HALVINGS):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if good(middle) else (low, middle)
    return low
