"""Looks in a few steps in a row at batch norms whose momentum keeps next to nothing of the batches before."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn.modules.batchnorm import _BatchNorm
from torch.optim import Optimizer

from debugtracer.observers.graph.lost_layers import made_at
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer
from debugtracer.observers.weights.fresh_statistics import norms_of
from debugtracer.recorder.state.weak import WeakRef
from debugtracer.trace.facts.leaping_statistics import LeapingStatistics
from debugtracer.trace.number import number

MOMENTUM = 0.9  # share of the new batch from which little else is left (ours; torch's default is 0.1)
FROM, STEPS = 10, 6  # the first step that is compared, and how many (ours: the first updates move statistics by much)
MOST = 8  # batch norms that are followed (ours)
OF_THREE = 3.0**0.5  # a second difference of noise is this much larger than a first one


class LeapingStatisticsObserver(Observer):
    """Copies small buffers in six steps and waits for a device once; hears nothing more in any other program."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.norms: list[tuple[str, Any]] = []
        """Weak references to the norms, with their paths."""
        self.count = 0
        self.seen: list[list[Tensor]] = []
        """The running means of each step."""
        self.last = -1

    def reset(self) -> None:
        self.norms.clear()
        self.seen.clear()
        self.last = -1

    def backward_ended(self, losses: list[Tensor]) -> None:
        """Find the norms, once."""
        self.run.unsubscribe(self.backward_ended)
        found = [(name, norm) for module in self.run.modules() for name, norm in norms_of(module) if is_short(norm)]
        self.count, self.norms = len(found), [(name, WeakRef(norm)) for name, norm in found[:MOST]]
        if not found:
            self.run.unsubscribe(self.step_closed)

    def step_closed(self, optimizer: Optimizer) -> None:
        """Keep the running means of steps in a row, and judge them."""
        step = self.run.step
        if not self.norms or step < FROM or step == self.last:
            return
        if self.seen and step != self.last + 1:
            self.seen.clear()  # a step was not seen
        alive = [norm for _, reference in self.norms if (norm := reference()) is not None]
        self.last = step
        self.seen.append([norm.running_mean.detach().clone() for norm in alive if norm.running_mean is not None])
        if len(self.seen) == STEPS or len(alive) < len(self.norms):
            self.run.unsubscribe(self.step_closed)
            if len(self.seen) == STEPS and len({len(means) for means in self.seen}) == 1:
                self.judge(alive)
            self.reset()

    def judge(self, alive: list[_BatchNorm]) -> None:
        """Emit the norm that leaps furthest."""
        with torch.no_grad():
            leaps = [leap_of([means[place] for means in self.seen], norm) for place, norm in enumerate(alive)]
        place = max(range(len(leaps)), key=leaps.__getitem__, default=None)
        if place is None or not torch.isfinite(torch.tensor(leaps[place])):
            return
        name, norm = self.norms[place][0], alive[place]
        self.run.emit(
            LeapingStatistics(
                ref=self.run.ref("update", self.run.iteration - 1), module=name,
                frame=made_at(self.run.modules(), f"{name}.weight"), norms=self.count,
                momentum=number(norm.momentum or 0.0), steps=STEPS, leap=number(leaps[place]),
            )
        )  # fmt: skip


def is_short(norm: _BatchNorm) -> bool:
    """Whether a norm takes nearly all of its statistics from the last batch, and is trained."""
    momentum, weight = norm.momentum, norm.weight
    trained = norm.training and (weight is None or weight.requires_grad)
    return isinstance(momentum, (int, float)) and momentum >= MOMENTUM and trained


def leap_of(means: list[Tensor], norm: _BatchNorm) -> float:
    """How far the running mean leaps to and fro, in deviations of the last batch: a mean that walks along with the
    weights has no second difference. Waits for a device."""
    if norm.running_var is None:
        return 0.0
    rows = torch.stack(means).double()
    second = (rows[2:] - 2 * rows[1:-1] + rows[:-2]).abs() / OF_THREE
    return float((second / (norm.running_var.double() + norm.eps).sqrt()).mean())
