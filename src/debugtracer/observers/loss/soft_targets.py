"""Collects the soft targets and the labels that one prediction is scored against."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from debugtracer.callsites.frames import RawFrames, raw_frames
from debugtracer.callsites.line import first
from debugtracer.callsites.origins.held_origin import held_origin
from debugtracer.observers.loss.kept_rows import KeptRows, base_of, probabilities
from debugtracer.observers.loss.loss_function import arguments
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.loss_call import INDEXED
from debugtracer.trace.facts.soft_target import SoftTarget

SOFT = frozenset({"kl_div", "cross_entropy", "mse_loss"})
FEWEST = 4  # rows (ours)
ROWS = 256  # of a step that are written down (ours)
MOST_CLASSES = 4096  # (ours)


@dataclass
class Scored:
    """One call of a loss, until the backward."""

    name: str
    base: int
    """The graph node of the prediction."""
    target: Tensor
    """On the host: the most probable class of each row, or the labels."""
    raw: RawFrames
    classes: int
    top: float = 0.0
    frame: Frame | None = None
    samples: tuple[int, ...] = ()
    made: Frame | None = None


class SoftTargetsObserver(Observer):
    """Hears the functions of inspected steps, and which samples a model is given where it makes no graph."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.rows = KeptRows(run.batches)
        self.soft: list[Scored] = []
        self.hard: list[Scored] = []
        self.number = 0

    def reset(self) -> None:
        self.rows = KeptRows(self.run.batches)
        self.soft, self.hard, self.number = [], [], 0

    def left(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note what a model made, and of which samples where nothing is differentiated."""
        if torch.is_grad_enabled() or not isinstance(output, Tensor) or output.dim() < 2:
            return
        if self.run.inspecting:
            self.rows.computed(output)
        if len(args) == 1 and isinstance(args[0], Tensor):
            self.rows.remember(output, args[0])

    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Follow what has no graph; read a loss."""
        name = getattr(function, "__name__", "")
        if not isinstance(output, Tensor):
            return
        if not output.requires_grad:
            if output.dim() > 0:
                self.rows.follow(name, args, output)
        elif (name in SOFT or name in INDEXED) and torch.is_grad_enabled():
            given = arguments(name, args, kwargs)
            prediction, target = given["input"], given["target"]
            if prediction.requires_grad and not target.requires_grad and 2 <= prediction.shape[-1] <= MOST_CLASSES:
                self.score(name, prediction, target, given)

    def score(self, name: str, prediction: Tensor, target: Tensor, given: dict[str, Any]) -> None:
        """Note a loss of class indices, or one of a distribution that is not of this step."""
        base, classes = base_of(prediction), int(prediction.shape[-1])
        if base is None or target.numel() < FEWEST:
            return
        if name in INDEXED and prediction.dim() == 2 and not target.is_floating_point() and target.dim() == 1:
            samples = self.rows.samples(target)
            kept = torch.where(target == given["ignore_index"], -1, target.detach()).cpu()
            self.hard.append(Scored(name, base, kept, raw_frames(2), classes, samples=samples))
        elif name in SOFT and target.is_floating_point() and target.dim() > 1 and prediction.shape == target.shape:
            source = self.rows.source(target)
            if source is None or (name == "cross_entropy" and prediction.dim() != 2):
                return
            rows = probabilities(name, target, bool(given.get("log_target")))
            if rows is not None:
                top, most = rows.max(-1)
                raw = raw_frames(2)
                taken = source.tensor()
                made_of, made = self.rows.made_of(taken)
                frame = first(source.raw) or (held_origin(taken, raw) if taken is not None else None)
                one = Scored(name, base, most.cpu(), raw, classes, float(top.mean()), frame, made_of, first(made))
                self.soft.append(one)

    @inspected
    def backward_begins(self, losses: list[Tensor]) -> None:
        """Emit each pair that scores one prediction, and let go of the step."""
        for soft in self.soft:
            hard = next((h for h in self.hard if h.base == soft.base and len(h.target) == len(soft.target)), None)
            if hard is not None:
                self.emit(soft, hard)
        if self.rows.way or self.soft or self.hard:
            self.rows.clear()
            self.soft, self.hard = [], []

    def emit(self, soft: Scored, hard: Scored) -> None:
        """Write down the first rows whose labels count."""
        rows = (hard.target >= 0).nonzero().flatten()[:ROWS].tolist()
        known = (one if len(one) == len(hard.target) else () for one in (hard.samples, soft.samples))
        samples, made_of = (tuple(one[row] for row in rows) if one else () for one in known)
        self.run.emit(
            SoftTarget(
                ref=self.run.ref(), loss=soft.name, loss_frame=first(soft.raw), hard_frame=first(hard.raw),
                frame=soft.frame, classes=soft.classes, soft=tuple(soft.target[rows].tolist()),
                hard=tuple(hard.target[rows].tolist()), top=soft.top, samples=samples, made_of=made_of,
                made=soft.made, number=self.number,
            )
        )  # fmt: skip
        self.number += 1
