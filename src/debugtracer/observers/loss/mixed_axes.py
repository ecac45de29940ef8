"""Finds rows of scores that hold values of several positions: (batch, classes, positions) seen as (-1, classes)."""

from __future__ import annotations

import math
import weakref
from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer

from debugtracer.callsites.frames import RawFrames, frames_of, raw_frames
from debugtracer.observers.loss.loss_function import arguments
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected, of_functions
from debugtracer.trace.facts.loss_call import INDEXED
from debugtracer.trace.facts.mixed_axes import MixedAxes

RESHAPES = frozenset({"view", "reshape"})
CARRIES = frozenset({"log_softmax", "softmax", "float", "contiguous"})  # functions that keep rows rows
MOST = 64  # tensors followed in a step (ours)


class Rows:
    """A tensor whose rows were cut along another dimension than that of its classes."""

    def __init__(self, output: Tensor, name: str, shape: tuple[int, ...], raw: RawFrames) -> None:
        self.tensor, self.name, self.shape, self.raw = weakref.ref(output), name, shape, raw


class MixedAxesObserver(Observer):
    """Compares shapes; reads no value and keeps no tensor alive."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.cut: dict[int, Rows] = {}
        self.told: set[RawFrames] = set()

    def reset(self) -> None:
        self.cut.clear()
        self.told.clear()

    @of_functions(RESHAPES, CARRIES, INDEXED)
    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note such a view, follow it to a loss over classes."""
        name = getattr(function, "__name__", "")
        if name in RESHAPES:
            if len(self.cut) < MOST and args and is_mixed(args[0], output):
                self.cut[id(output)] = Rows(output, name, tuple(args[0].shape), raw_frames(1))
        elif self.cut and name in CARRIES:
            rows = self.find(args[0]) if args else None
            if rows is not None:
                self.cut[id(output)] = Rows(output, rows.name, rows.shape, rows.raw)
        elif self.cut and name in INDEXED and torch.is_grad_enabled():
            given = arguments(name, args, kwargs)
            rows = self.find(given["input"])
            if rows is not None and rows.raw not in self.told and belongs(given["target"], rows.shape):
                self.told.add(rows.raw)
                self.run.emit(
                    MixedAxes(
                        ref=self.run.ref(), function=rows.name, shape=rows.shape, classes=rows.shape[1],
                        frame=frames_of(rows.raw)[0], loss=name, loss_frame=self.run.here(),
                    )
                )  # fmt: skip

    def find(self, value: Any) -> Rows | None:
        """The rows that this tensor is; None for others."""
        rows = self.cut.get(id(value))
        return rows if rows is not None and rows.tensor() is value else None

    @inspected
    def step_closed(self, optimizer: Optimizer) -> None:
        """Forget the tensors of the step."""
        self.cut.clear()


def is_mixed(given: Any, output: Any) -> bool:
    """Whether (batch, classes, positions ...) was seen as (rows, classes)."""
    if not isinstance(given, Tensor) or not isinstance(output, Tensor):
        return False
    if given.dim() < 3 or output.dim() != 2 or not given.is_floating_point():
        return False
    classes, positions = given.shape[1], math.prod(given.shape[2:])
    return classes > 1 and positions > 1 and output.shape[1] == classes != given.shape[-1]


def belongs(target: Any, shape: tuple[int, ...]) -> bool:
    """Whether the targets were one for each position: (batch, positions ...) before they were flattened."""
    if not isinstance(target, Tensor) or target.is_floating_point() or target.dim() != 1:
        return False
    whole = target if target._base is None else target._base
    if whole.dim() > 1 and target.numel() == shape[0] * math.prod(shape[2:]):
        return tuple(whole.shape[1:]) == shape[2:]  # it may be a slice of all targets
    return bool(shape[-1] % shape[1])  # else a row may be a whole number of them
