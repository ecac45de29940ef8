"""Counts the labels of losses whose classes have weights, on inspected steps."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from debugtracer.callsites.frames import user_frames
from debugtracer.callsites.origins.argument_origin import argument_origin, object_built
from debugtracer.callsites.origins.value_origin import made_first
from debugtracer.errors import guarded
from debugtracer.observers.loss.loss_function import arguments
from debugtracer.observers.model.running_module import running_module
from debugtracer.observers.model.shadow_model import is_dense
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.class_weights import ClassWeights
from debugtracer.trace.facts.loss_call import INDEXED

CLASSES = 256  # at most (ours: of a vocabulary a step sees the common words alone)
LABELS = 1 << 16  # counted of one call at most, evenly spread (ours)
MOST = 8  # lines and weights followed (ours)
PLACES = {"CrossEntropyLoss": 0, "NLLLoss": 0}  # of the weights among the arguments

Key = tuple[str, Frame | None, tuple[float, ...]]


class ClassWeightsObserver(Observer):
    """One wait for the device for each such loss of an inspected step."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.seen: dict[Key, tuple[list[int], set[int]]] = {}
        """Loss, line and weights -> the labels of each class, and the steps that they are of."""

    def reset(self) -> None:
        self.seen.clear()

    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Count the labels of a loss with weights."""
        name = getattr(function, "__name__", "")
        if name not in INDEXED or not torch.is_grad_enabled():
            return
        given = arguments(name, args, kwargs)
        weight, target = given["weight"], given["target"]
        if not isinstance(weight, Tensor) or not isinstance(target, Tensor):
            return
        if target.is_floating_point() or not 1 < weight.numel() <= CLASSES or not is_dense(target):
            return
        with torch.no_grad():
            weights = tuple(float(f"{value:.6g}") for value in weight.detach().double().tolist())
            if len(set(weights)) > 1:
                self.count(name, weights, target.detach().reshape(-1), given.get("ignore_index", -100))

    def count(self, name: str, weights: tuple[float, ...], labels: Tensor, ignored: int) -> None:
        """Add the labels of one call, and emit what was counted so far."""
        stack = user_frames(2)
        frame = stack[0] if stack else None
        key = name, frame, weights
        if key not in self.seen and len(self.seen) >= MOST:
            return
        labels = labels[:: max(1, labels.numel() // LABELS)]
        labels = labels[(labels != ignored) & (labels >= 0) & (labels < len(weights))].long()
        counts, steps = self.seen.setdefault(key, ([0] * len(weights), set()))
        for number, count in enumerate(torch.bincount(labels, minlength=len(weights)).tolist()):
            counts[number] += count
        steps.add(self.run.step)
        made = guarded("class_weights.made")(weights_made)(stack, name) or ()
        self.run.emit(
            ClassWeights(
                ref=self.run.ref(), loss=name, weights=weights, counts=tuple(counts), looks=len(steps), frame=frame,
                made=made,
            )
        )  # fmt: skip


def weights_made(stack: tuple[Frame, ...], name: str) -> tuple[Frame, ...]:
    """The lines that wrote the weights that a loss, or the module that runs, was given."""
    running: nn.Module | None = running_module()
    kind = type(running).__name__ if running is not None else ""
    if kind in PLACES:
        built = object_built(stack, kind)
        links = argument_origin((built,), (kind,), "weight", PLACES[kind]) if built is not None else ()
    else:
        links = argument_origin(stack, (name,), "weight", 2)
    return made_first(links)
