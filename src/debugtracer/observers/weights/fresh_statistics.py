"""Looks at the running statistics of a copy of the trained network where it is evaluated: were they brought over with
the weights?"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm

from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer
from debugtracer.recorder.run_state import parameters
from debugtracer.trace.facts.fresh_statistics import FreshStatistics

AFTER = 3  # steps, after which the trained network has counted batches (docs/rationale/checks.md#effect-invariants)
MOST_CALLS = 256  # evaluations of a copy that are looked at (ours)


class FreshStatisticsObserver(Observer):
    """Waits for a device once a copy, and hears nothing more in a program without batch norms."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.calls = 0

    def left(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Look at a call without a graph of a network in evaluation mode that no optimizer trains."""
        if torch.is_grad_enabled() or module.training or self.run.step < AFTER:
            return
        alike = [m for m in self.run.modules() if m is not module and type(m) is type(module)]
        held = {id(p) for optimizer in self.run.optimizers for p in parameters(optimizer)} if alike else set()
        twins = [m for m in alike if is_twin(m, module, held)]
        self.calls += 1
        trained = next((m for m in twins if norms_of(m) and has_counted(m)), None)
        if self.calls >= MOST_CALLS:
            self.run.unsubscribe(self.left)
        if trained is not None:
            self.compare(module, trained)

    def backward_ended(self, losses: list[torch.Tensor]) -> None:
        """Listen no more where no network has a batch norm."""
        if self.run.step < AFTER:
            return
        self.run.unsubscribe(self.backward_ended)
        if not any(norms_of(module) for module in self.run.modules()):
            self.run.unsubscribe(self.left)

    def compare(self, copy: nn.Module, trained: nn.Module) -> None:
        """Emit a copy whose weights were written after it was made, and whose statistics are those of a new one."""
        norms, others = norms_of(copy), norms_of(trained)
        if not norms or not all(is_new(norm) for _, norm in norms) or not was_written(copy):
            return
        counted = others[0][1].num_batches_tracked
        self.run.unsubscribe(self.left, self.backward_ended)
        self.run.emit(
            FreshStatistics(
                ref=self.run.ref("update", self.run.iteration - 1), module=norms[0][0], norms=len(norms),
                trained=0 if counted is None else int(counted), kind=type(copy).__name__, frame=self.run.here(),
            )
        )  # fmt: skip


def is_twin(module: nn.Module, other: nn.Module, held: set[int]) -> bool:
    """Whether two networks of one class are of one shape, too, and an optimizer holds the first alone: gradients may
    be cleared by now."""
    ours, theirs = list(module.parameters()), list(other.parameters())
    return (
        len(ours) == len(theirs)
        and all(a.shape == b.shape and a is not b for a, b in zip(ours, theirs, strict=True))
        and any(id(p) in held for p in ours)
        and not any(id(p) in held or p.grad is not None for p in theirs)
    )


def norms_of(module: nn.Module) -> list[tuple[str, _BatchNorm]]:
    """The batch norms that keep statistics, with their paths."""
    return [
        (name, m)
        for name, m in module.named_modules()
        if isinstance(m, _BatchNorm) and m.running_mean is not None and m.running_var is not None
    ]


def has_counted(module: nn.Module) -> bool:
    """Whether its batch norms have seen batches: a counter is read."""
    counted = norms_of(module)[0][1].num_batches_tracked
    return counted is not None and int(counted) > 0


def is_new(norm: _BatchNorm) -> bool:
    """Whether the statistics are those of a norm that was just made."""
    counted, mean, var = norm.num_batches_tracked, norm.running_mean, norm.running_var
    if counted is None or mean is None or var is None:
        return False
    return int(counted) == 0 and not bool(mean.any()) and bool((var == 1).all())


def was_written(module: nn.Module) -> bool:
    """Whether somebody has written its weights in place since it was copied: a reference that is never updated is not
    evaluated for what was trained."""
    return any(p._version > 0 for p in module.parameters() if p.dim() > 1)
