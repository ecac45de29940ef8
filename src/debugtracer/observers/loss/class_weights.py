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
from debugtracer.observers.observer import Observer, of_functions
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.class_weights import ClassWeights
from debugtracer.trace.facts.loss_call import INDEXED

CLASSES = 256  # at most (ours: of a vocabulary a step sees the common words alone)
LABELS = 1 << 16  # counted of one call at most, evenly spread (ours)
MOST = 8  # lines and weights followed (ours)
PLACES = {"CrossEntropyLoss": 0, "NLLLoss": 0, "BCEWithLogitsLoss": 4}  # of the weights among the arguments
POSITIVE = "binary_cross_entropy_with_logits"

Key = tuple[str, Frame | None, tuple[float, ...]]


class ClassWeightsObserver(Observer):
    """One wait for the device for each such loss of an inspected step."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.seen: dict[Key, Counted] = {}
        """By loss, line and weights."""

    def reset(self) -> None:
        self.seen.clear()

    @of_functions(INDEXED, {POSITIVE})
    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Count the labels of a loss with weights."""
        name = getattr(function, "__name__", "")
        if (name not in INDEXED and name != POSITIVE) or not torch.is_grad_enabled():
            return
        given = arguments(name, args, kwargs)
        weight, target = given["pos_weight" if name == POSITIVE else "weight"], given["target"]
        if not isinstance(weight, Tensor) or not isinstance(target, Tensor):
            return
        if not 1 <= weight.numel() <= CLASSES or not is_dense(target):
            return
        with torch.no_grad():
            weights = tuple(float(f"{value:.6g}") for value in weight.detach().double().flatten().tolist())
            if name == POSITIVE and set(weights) != {1.0} and is_fitting(weight.shape, target.shape):
                self.count(name, weights, columns(target.detach(), weight.shape))
            elif name != POSITIVE and len(set(weights)) > 1 and not target.is_floating_point():
                self.count(name, weights, labels_of(target.detach(), given.get("ignore_index", -100), len(weights)))

    def count(self, name: str, weights: tuple[float, ...], labels: list[Tensor]) -> None:
        """Add the labels of one call, and emit what was counted so far."""
        stack = user_frames(2)
        frame = stack[0] if stack else None
        key = name, frame, weights
        if key not in self.seen and len(self.seen) >= MOST:
            return
        known = self.seen.setdefault(key, Counted(len(weights)))
        known.add(labels, self.run.step)
        made = guarded("class_weights.made")(weights_made)(stack, name) or ()
        self.run.emit(
            ClassWeights(
                ref=self.run.ref(), loss=name, weights=weights, counts=tuple(known.counts), looks=len(known.steps),
                frame=frame, made=made, negatives=tuple(known.negatives) if name == POSITIVE else (),
            )
        )  # fmt: skip


class Counted:
    """The labels of one loss so far."""

    def __init__(self, classes: int) -> None:
        self.counts, self.negatives = [0] * classes, [0] * classes
        self.steps: set[int] = set()

    def add(self, labels: list[Tensor], step: int) -> None:
        """Add those of one call: of each class, and (of a binary loss) those that are not of it. Waits for the
        device."""
        both = torch.stack(labels).tolist()
        for total, more in zip((self.counts, self.negatives), both, strict=False):
            total[:] = [a + int(b) for a, b in zip(total, more, strict=True)]
        self.steps.add(step)


def labels_of(target: Tensor, ignored: int, classes: int) -> list[Tensor]:
    """How many labels there are of each class."""
    labels = target.reshape(-1)
    labels = labels[:: max(1, labels.numel() // LABELS)]
    return [torch.bincount(labels[(labels != ignored) & (labels >= 0) & (labels < classes)].long(), minlength=classes)]


def columns(target: Tensor, shape: torch.Size) -> list[Tensor]:
    """How many targets are above one half, and how many are not, for each element of a weight that is stretched to
    them."""
    above = (target > 0.5).float()
    sums = above.sum().reshape(1) if shape.numel() == 1 else above.sum_to_size(shape).flatten()
    return [sums.double(), target.numel() / shape.numel() - sums.double()]


def is_fitting(weight: torch.Size, target: torch.Size) -> bool:
    """Whether a weight can be stretched to the targets, and they need not be to the weight."""
    pairs = zip(reversed(weight), reversed(target), strict=False)
    return weight.numel() == 1 or (len(weight) <= len(target) and all(w in (1, t) for w, t in pairs))


def weights_made(stack: tuple[Frame, ...], name: str) -> tuple[Frame, ...]:
    """The lines that wrote the weights that a loss, or the module that runs, was given."""
    parameter = "pos_weight" if name == POSITIVE else "weight"
    running: nn.Module | None = running_module()
    kind = type(running).__name__ if running is not None else ""
    if kind in PLACES:
        built = object_built(stack, kind)
        links = argument_origin((built,), (kind,), parameter, PLACES[kind]) if built is not None else ()
    else:
        links = argument_origin(stack, (name,), parameter, 6 if name == POSITIVE else 2)
    return made_first(links)
