"""Counts on inspected steps how many values batch norms normalise over."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer

from debugtracer.observers.model.running_module import path_of, running_module
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected, of_functions
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.norm_batch import NormBatch

FEW = 4  # values of a channel (docs/rationale/checks.md#model_bn_degenerate)
NAMED = 8  # paths kept as evidence


class NormBatchObserver(Observer):
    """Shapes only: no value is read."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.few: list[tuple[int, tuple[int, ...], str, Frame | None]] = []
        self.total = self.look = 0

    def reset(self) -> None:
        self.few.clear()

    @of_functions({"batch_norm"})
    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note a batch norm in training mode that sees few values."""
        if (
            getattr(function, "__name__", "") != "batch_norm"
            or not torch.is_grad_enabled()
            or not args
            or not isinstance(args[0], Tensor)
        ):
            return
        training = kwargs.get("training", args[5] if len(args) > 5 else False)
        if training is not True or args[0].dim() < 2:
            return
        self.total += 1
        values = args[0].numel() // max(args[0].shape[1], 1)
        if values <= FEW and len(self.few) < 64:
            module = running_module()
            path = path_of(module, self.run.modules()) if module is not None else None
            self.few.append((values, tuple(args[0].shape), path or "", self.run.here()))

    @inspected
    def step_closed(self, optimizer: Optimizer) -> None:
        """Emit one fact a step."""
        if self.run.inspecting and self.few:
            values, shape, _, frame = min(self.few, key=lambda one: one[0])
            names = tuple(dict.fromkeys(path for _, _, path, _ in self.few))
            ref = self.run.ref("forward", self.run.iteration - 1)
            self.run.emit(
                NormBatch(
                    ref=ref,
                    look=self.look,
                    values=values,
                    shape=shape,
                    modules=names[:NAMED],
                    count=len(self.few),
                    total=self.total,
                    frame=frame,
                )
            )
        self.look += self.run.inspecting
        self.few.clear()
        self.total = 0
