"""Looks whether a loss is taken of all nodes of a graph, where an evaluation takes some of the same labels by mask."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from debugtracer.callsites.frames import RawFrames, raw_frames
from debugtracer.callsites.line import first
from debugtracer.observers.graph.connections import connects, graph_tensors
from debugtracer.observers.loss.evaluated_rows import FEWEST, LOOKS, MOST
from debugtracer.observers.loss.followed_rows import rows_of
from debugtracer.observers.loss.loss_function import arguments
from debugtracer.observers.loss.rows_taken import COMPARED
from debugtracer.observers.model.shadow_model import is_dense
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected
from debugtracer.recorder.tape.moved_leaves import storage_of
from debugtracer.trace.facts.evaluated_rows import EvaluatedRows


class WholeLossesObserver(Observer):
    """Hears the functions of inspected steps, and of evaluations after them; keeps numbers alone."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.nodes: set[int] = set()
        """Lengths of the labels of which a graph may be: its model was given connections of as many nodes."""
        self.place: object = None
        """Where the labels lie, the same in all looks."""
        self.length = self.looks = 0
        self.raw: RawFrames = ()
        self.seen: dict[int, int] = {}
        """Row numbers of an evaluation -> the step in which it took them first."""
        self.over = False
        """The backward is over, and no new forward has begun."""

    def reset(self) -> None:
        self.nodes.clear()
        self.seen.clear()
        self.place, self.length, self.looks, self.raw, self.over = None, 0, 0, (), False

    @inspected
    def left(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Keep the number of nodes of which a model is given connections."""
        self.over = self.over and not torch.is_grad_enabled()
        if torch.is_grad_enabled() and isinstance(output, Tensor) and is_dense(output) and output.dim():
            given = (tensor for value in (*args, *kwargs.values()) for tensor in graph_tensors(value))
            if any(connects(tensor, len(output)) for tensor in given):
                self.nodes.add(len(output))

    @inspected
    def backward_ended(self, losses: list[Tensor]) -> None:
        """Wait for an evaluation, also one that runs without no_grad."""
        self.over = True

    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Look at a loss of training, and at labels that an evaluation takes."""
        name = getattr(function, "__name__", "")
        if torch.is_grad_enabled() and not self.over:
            if name in COMPARED and self.nodes and isinstance(output, Tensor) and not output.dim():
                given = arguments(name, args, kwargs)
                self.train(given["input"], given["target"])
        elif self.looks and name == "__getitem__" and len(args) > 1 and isinstance(args[0], Tensor):
            self.evaluate(args[0], args[1])

    def train(self, said: Any, labels: Any) -> None:
        """Take the labels of a loss of training; others than before end it."""
        if not isinstance(said, Tensor) or not isinstance(labels, Tensor) or not labels.dim() or labels.requires_grad:
            return
        place = storage_of(labels)
        if place is None or len(labels) not in self.nodes or len(said) != len(labels) or not said.requires_grad:
            return
        if self.place is not None and place != self.place:
            return self.run.unsubscribe(self.called, self.left, self.backward_ended)
        self.place, self.length, self.raw = place, len(labels), raw_frames(2)
        self.looks += 1

    def evaluate(self, labels: Tensor, index: Any) -> None:
        """Emit rows that an evaluation takes of these labels a second time: those of one class are no split."""
        if not is_dense(labels) or not labels.dim() or len(labels) != self.length or storage_of(labels) != self.place:
            return
        rows = None if isinstance(index, slice) else rows_of(index, self.length)
        if rows is None or not FEWEST <= len(rows.unique()) < self.length or len(self.seen) >= MOST:
            return
        taken = hash(tuple(rows.tolist()))
        again = self.seen.setdefault(taken, self.run.step) != self.run.step and self.looks >= LOOKS
        if not again or not differs(labels.detach()[rows]):
            return
        raw = raw_frames(2)
        self.run.emit(
            EvaluatedRows(
                ref=self.run.ref("loss", self.run.iteration - 1), length=self.length, rows=len(rows), shared=len(rows),
                trained=self.length, frame=first(raw), train_frame=first(self.raw), whole=True,
            )
        )  # fmt: skip
        self.run.unsubscribe(self.called, self.left, self.backward_ended)


def differs(labels: Tensor) -> bool:
    """Whether not all of them are the same."""
    return bool((labels != labels[0]).any())
