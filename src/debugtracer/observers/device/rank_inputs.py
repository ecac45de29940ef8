"""Writes down what the model is given where no loader delivered it, so that ranks can be compared after the run."""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn

from debugtracer.observers.data.digest import digest
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.batches import BatchSeen

STEPS = 8  # iterations that are looked at (ours, as of batches of a loader)


class RankInputsObserver(Observer):
    """Deaf after a few iterations, and in a process that trains alone."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.given: tuple[tuple[int, ...], int | None, Frame | None] | None = None
        """Digests of the arguments of the first call of the iteration, their rows, the line of the call."""

    def reset(self) -> None:
        self.given = None

    def entered(self, module: nn.Module, args: tuple[Any, ...]) -> None:
        """Note what a model is given."""
        if self.given is not None or not torch.is_grad_enabled() or self.run.iteration >= STEPS:
            return
        if self.run.batches.last() is not None or not (dist.is_available() and dist.is_initialized()):
            return
        values = [value for value in args if isinstance(value, Tensor) and not value.requires_grad and value.dim()]
        sums = [digest(value) for value in values]
        known = tuple(one for one in sums if one is not None)
        if known and len(known) == len(sums):
            self.given = known, int(values[0].shape[0]), self.run.here()

    def backward_begins(self, losses: list[Tensor]) -> None:
        """Emit the inputs of one iteration of training."""
        given, self.given = self.given, None
        if self.run.iteration >= STEPS:
            self.run.unsubscribe(self.entered, self.backward_begins)
        elif given is not None and dist.get_world_size() > 1:
            self.run.emit(
                BatchSeen(
                    ref=self.run.ref("load"), loader=None, frame=given[2], sampler="", shards=False, length=None,
                    rows=given[1], indices=(), digests=given[0],
                )
            )  # fmt: skip
