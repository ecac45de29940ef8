"""Finds the last states of a recurrent layer, whose first axis is that of layers and directions, viewed as one row for
each of the batch."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer

from debugtracer.callsites.frames import RawFrames, raw_frames
from debugtracer.callsites.line import first
from debugtracer.observers.graph.permuted_views import VIEWS
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected, of_functions
from debugtracer.recorder.state.weak import WeakRef
from debugtracer.trace.facts.permuted_view import PermutedView

LAYERS = frozenset({"lstm", "gru", "rnn_tanh", "rnn_relu"})
# what makes a tensor with the same axes of the states
CARRIES = frozenset({"contiguous", "relu", "tanh", "dropout", "float", "to", "clone"})
MOST = 32  # states followed in a step (ours)


class ViewedStatesObserver(Observer):
    """Compares shapes in inspected steps; reads no value and keeps no tensor alive."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.states: dict[int, tuple[Callable[[], Tensor | None], str]] = {}
        """By id: the tensor, and the layer it is of."""
        self.told: set[RawFrames] = set()

    def reset(self) -> None:
        self.states.clear()
        self.told.clear()

    @of_functions(LAYERS, VIEWS, CARRIES)
    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Remember the last states of a layer, and tell a view of them."""
        name = getattr(function, "__name__", "")
        if name in LAYERS:
            self.remember(name, output[1:] if isinstance(output, tuple) else ())
        elif self.states and args and isinstance(output, Tensor) and (name in VIEWS or name in CARRIES):
            tensor, layer = self.states.get(id(args[0]), (None, ""))
            given = tensor() if tensor is not None else None
            if given is None or given is not args[0]:
                return
            if name in CARRIES and output.shape == given.shape:
                self.remember(layer, (output,))
            elif name in VIEWS:
                self.viewed(name, layer, tuple(given.shape), tuple(output.shape))

    def remember(self, layer: str, states: tuple[Any, ...]) -> None:
        """Follow states of several layers or directions, and of several rows."""
        for one in states:
            if isinstance(one, Tensor) and one.dim() == 3 and min(one.shape[:2]) > 1 and len(self.states) < MOST:
                self.states[id(one)] = WeakRef(one), layer

    def viewed(self, name: str, layer: str, before: tuple[int, ...], after: tuple[int, ...]) -> None:
        """Tell a view whose rows are those of the batch."""
        raw = raw_frames(3)
        joined = len(after) == 2 or (len(after) == 3 and after[1] == before[0] and after != before)
        rows = before[1] == after[0] and prod(after[1:]) == before[0] * before[2]
        if not rows or not joined or raw in self.told or not torch.is_grad_enabled():
            return
        self.told.add(raw)
        self.run.emit(
            PermutedView(
                ref=self.run.ref(), function=name, shape=before, result=after, parts=0,
                frame=first(raw), reader="", reader_frame=None, layer=layer,
            )
        )  # fmt: skip

    @inspected
    def step_closed(self, optimizer: Optimizer) -> None:
        """Forget what was followed in the step."""
        self.states.clear()
