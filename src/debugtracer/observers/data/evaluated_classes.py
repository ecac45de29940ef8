"""Counts what a model calls each class of the evaluation, where its labels come from a loader as those of training
do."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from debugtracer.callsites.origins.argument_origin import argument_origin
from debugtracer.observers.loss.loss_function import arguments
from debugtracer.observers.model.shadow_model import is_dense
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, of_functions
from debugtracer.recorder.tape.batches import LoaderInfo
from debugtracer.recorder.tape.entry import tensors
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.evaluated_classes import EvaluatedClasses
from debugtracer.trace.facts.loss_call import INDEXED

CLASSES = 128  # at most (ours: each needs some samples)
BATCHES = 64  # of one evaluation (ours)
MOST = 4  # loaders of training (ours)


class EvaluatedClassesObserver(Observer):
    """Labels and scores in host memory alone. Between evaluations nothing of it is called in a plain step."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.classes, self.path = 0, ""
        """Of the scores of the training loss, and the leaf of the batch that its targets are."""
        self.trained = 0.0
        self.loaders: list[LoaderInfo] = []
        """Those that training is fed by."""
        self.evaluating: LoaderInfo | None = None
        self.called_as: Tensor | None = None
        """Counts (classes, classes) of labels and of what they were called."""
        self.batches = 0
        run.unsubscribe(self.left)

    def reset(self) -> None:
        self.classes, self.loaders, self.evaluating, self.called_as = 0, [], None, None
        self.run.unsubscribe(self.left)

    @of_functions(INDEXED)
    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Learn from a training loss which leaf of a batch holds the class ids, and how often they are found."""
        name = getattr(function, "__name__", "")
        if name not in INDEXED or not torch.is_grad_enabled():
            return
        given = arguments(name, args, kwargs)
        scores, target = given["input"], given["target"]
        if not is_scores(scores) or not is_labels(target, scores):
            return
        found = self.run.batches.find(target)
        if found is None or found[0].loader is self.evaluating or not 1 < scores.shape[1] <= CLASSES:
            return
        self.classes, self.path = int(scores.shape[1]), found[1]
        with torch.no_grad():
            self.trained = float((scores.detach().argmax(1) == target).double().mean())
        if found[0].loader not in self.loaders:
            self.loaders = [*self.loaders, found[0].loader][-MOST:]

    def loader_iterated(self, info: LoaderInfo, iterator: Any) -> None:
        """Begin with an evaluation, or end one, where a loader begins a pass."""
        self.tell()
        feeds = any(info is one or info.goes_on(one) for one in self.loaders)
        if not self.classes or feeds:
            return
        self.evaluating, self.batches = info, 0
        self.called_as = torch.zeros(self.classes, self.classes, dtype=torch.int64)
        self.run.subscribe(self.left)

    def left(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Count the answers to one batch of the evaluation."""
        if module.training or self.evaluating is None or self.called_as is None:
            return self.tell()
        batch = self.run.batches.last()
        if batch is None or batch.loader is not self.evaluating or self.batches >= BATCHES:
            return
        labels = next((leaf for path, leaf in batch.tensors() if path == self.path), None)
        for scores in tensors(output):
            if labels is not None and is_scores(scores) and is_labels(labels, scores):
                self.count(scores, labels)
                self.batches += 1
                return

    def count(self, scores: Tensor, labels: Tensor) -> None:
        """Add one batch; labels beyond the classes are left out."""
        if self.called_as is None or scores.shape[1] != self.classes:
            return
        with torch.no_grad():
            labels, called = labels.detach().long(), scores.detach().argmax(1)
            known = (labels >= 0) & (labels < self.classes)
            flat = labels[known] * self.classes + called[known]
            self.called_as += torch.bincount(flat, minlength=self.classes**2).reshape_as(self.called_as)

    def ended(self) -> None:
        """Emit the last evaluation."""
        self.tell()

    def tell(self) -> None:
        """Emit what the evaluation that is over has counted."""
        info, table = self.evaluating, self.called_as
        self.evaluating = self.called_as = None
        self.run.unsubscribe(self.left)
        if info is None or table is None or not bool(table.any()):
            return
        most, called = table.max(1)
        differs = bool((called != torch.arange(len(table))).any())
        self.run.emit(
            EvaluatedClasses(
                ref=self.run.ref(), counts=tuple(table.sum(1).tolist()), hits=tuple(table.diagonal().tolist()),
                called=tuple(called.tolist()), most=tuple(most.tolist()), trained=self.trained,
                frame=info.frame, made=self.made(info) if differs else (),
            )
        )  # fmt: skip

    def made(self, info: LoaderInfo) -> tuple[Frame, ...]:
        """The lines that wrote the labels of the evaluation and not those of training; else the one that built its
        data set, where that is another line than the loader's."""
        shared = {frame for one in self.loaders for frame in one.made(self.path)}
        own = tuple(frame for frame in info.made(self.path) if frame not in shared)
        links = argument_origin((info.frame,), ("DataLoader",), "dataset", 0) if info.frame and not own else ()
        built = next((link.frame for link in links if info.frame and link.frame.line != info.frame.line), None)
        return own or ((built,) if built is not None else ())


def is_scores(value: Any) -> bool:
    """Whether a tensor has a row of floats for each sample, in host memory."""
    return (
        isinstance(value, Tensor)
        and value.dim() == 2
        and value.is_floating_point()
        and value.device.type == "cpu"
        and is_dense(value)
    )


def is_labels(value: Any, scores: Tensor) -> bool:
    """Whether a tensor has one class id for each row of the scores."""
    return (
        isinstance(value, Tensor)
        and value.shape == scores.shape[:1]
        and value.dtype in (torch.int64, torch.int32, torch.int16, torch.uint8)
        and value.device.type == "cpu"
        and is_dense(value)
        and len(value) > 0
    )
