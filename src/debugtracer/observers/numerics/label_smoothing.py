"""Computes on inspected steps what label smoothing does to a cross entropy, on its own logits."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, of_functions
from debugtracer.trace.facts.label_smoothing import LabelSmoothing, Smoothed

EPSILONS = (0.0, 0.1, 0.2)  # the values of the first article (docs/rationale/checks.md#label-smoothing)
ROWS = 512  # rows that are looked at (ours)
CLASSES = 4096  # classes at most; a vocabulary is sampled by nobody (ours)
NAMES = ("input", "target", "weight", "size_average", "ignore_index", "reduce", "reduction", "label_smoothing")


class LabelSmoothingObserver(Observer):
    """Only cross entropies over class indices with 3 classes or more, one a step."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.step = -1

    @of_functions({"cross_entropy"})
    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Take a call of F.cross_entropy on the CPU, one a step."""
        if getattr(function, "__name__", "") != "cross_entropy" or self.step == self.run.step:
            return
        given = dict(zip(NAMES, args, strict=False)) | kwargs
        logits, target = given.get("input"), given.get("target")
        if (
            not isinstance(logits, Tensor)
            or not isinstance(target, Tensor)
            or target.is_floating_point()
            or logits.dim() < 2
            or logits.device.type != "cpu"
        ):
            return
        if not 3 <= logits.shape[1] <= CLASSES:
            return
        self.step = self.run.step
        with torch.no_grad():
            self.tabulate(
                logits.detach(), target, int(given.get("ignore_index", -100)), float(given.get("label_smoothing", 0.0))
            )

    def tabulate(self, logits: Tensor, target: Tensor, ignored: int, used: float) -> None:
        """Compute the loss of one call under several smoothing values."""
        classes = logits.shape[1]
        scores = logits.movedim(1, -1).reshape(-1, classes)
        labels = target.reshape(-1)
        keep = (labels != ignored).nonzero().squeeze(1)[:ROWS]
        scores, labels = scores[keep].double(), labels[keep]
        if not len(labels) or bool(((labels < 0) | (labels >= classes)).any()):
            return
        p = torch.softmax(scores, -1)
        top, guess = p.max(-1)
        self.run.emit(
            LabelSmoothing(
                ref=self.run.ref("loss"),
                classes=classes,
                rows=len(labels),
                used=used,
                closed=int(torch.isneginf(scores).any(0).sum().item()),
                table=tuple(self.smoothed(p, labels, epsilon) for epsilon in EPSILONS),
                top_probability=round(float(top.mean().item()), 6),
                accuracy=round(float((guess == labels).double().mean().item()), 6),
                frame=self.run.here(),
            )
        )

    def smoothed(self, p: Tensor, labels: Tensor, epsilon: float) -> Smoothed:
        """The gradient of the mean loss with respect to the logits is (p - q) / rows."""
        classes = p.shape[-1]
        q = torch.full_like(p, epsilon / classes)
        q[torch.arange(len(labels), device=p.device), labels] += 1 - epsilon
        variance = float(((p - q) / len(labels)).var(correction=0).item())
        return Smoothed(
            epsilon=epsilon,
            target_kl=round(-math.log(1 - epsilon + epsilon / classes), 6),
            gradient_variance=variance if math.isfinite(variance) else 0.0,
        )
