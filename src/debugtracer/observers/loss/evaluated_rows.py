"""Compares the rows of an output that a loss is taken of with those that an evaluation takes of one as long: the masks
of a graph."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from debugtracer.callsites.frames import RawFrames, frames_of, raw_frames
from debugtracer.callsites.line import first
from debugtracer.callsites.origins.index_origin import index_origin
from debugtracer.callsites.origins.value_origin import made_first
from debugtracer.errors import guarded
from debugtracer.observers.loss.followed_rows import FollowedRows, Taken, rows_of
from debugtracer.observers.loss.loss_function import arguments
from debugtracer.observers.loss.rows_taken import COMPARED
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected
from debugtracer.trace.facts.evaluated_rows import EvaluatedRows

LOOKS = 2  # steps in which the loss is taken of the same rows (ours: of batches drawn anew it is not)
FEWEST = 16  # rows of an evaluation (ours)
MOST = 64  # row numbers of evaluations that are remembered (ours)


class EvaluatedRowsObserver(Observer):
    """Hears the functions of inspected steps, and of evaluations after them; keeps row numbers alone."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.rows = FollowedRows()
        self.trained: Tensor | None = None
        """The rows of the loss, the same in all looks."""
        self.length = self.looks = 0
        self.raw: RawFrames = ()
        self.seen: dict[object, int] = {}
        """Line of an evaluation and the row numbers that it takes -> the step in which it took them first."""
        self.told: set[object] = set()
        """Lines that were told: one may take the rows of training, too, and those of all."""
        self.held: dict[tuple[object, int], tuple[int, EvaluatedRows]] = {}
        """The same of masks, with what is told once they come again, or were the only ones."""
        self.steps: dict[object, set[int]] = {}
        """Lines of evaluations by masks and the steps in which they were seen."""

    def reset(self) -> None:
        self.rows.clear()
        self.trained, self.length, self.looks, self.raw = None, 0, 0, ()
        self.seen.clear()
        self.told.clear()
        self.held.clear()
        self.steps.clear()

    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Follow the rows of training to its loss; look at those of an evaluation."""
        name = getattr(function, "__name__", "")
        if torch.is_grad_enabled():
            self.rows.called(name, args, kwargs, output)
            if name in COMPARED and len(self.rows):
                self.train(self.rows.known(arguments(name, args, kwargs)["input"]))
        elif self.looks >= LOOKS and name == "__getitem__" and len(args) > 1 and isinstance(args[0], Tensor):
            self.evaluate(args[0], args[1])

    @inspected
    def left(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Follow the rows through a model: of batches the loss is taken whole."""
        if torch.is_grad_enabled():
            self.rows.left(args, kwargs, output)

    @inspected
    def backward_begins(self, losses: list[Tensor]) -> None:
        """Let go of the step."""
        self.rows.clear()

    def train(self, taken: Taken | None) -> None:
        """Take the rows of a loss of training; others than before end it."""
        if taken is None or self.looks < 0:
            return
        rows = taken.rows.unique()
        if self.trained is not None and (taken.length != self.length or not torch.equal(rows, self.trained)):
            self.looks = -1
            return self.run.unsubscribe(self.called, self.left, self.backward_begins)
        self.trained, self.length, self.raw = rows, taken.length, taken.raw
        self.looks += 1

    def evaluate(self, tensor: Tensor, index: Any) -> None:
        """Compare the rows of an evaluation; those of a list of numbers count once they came again."""
        if self.trained is None or not tensor.dim() or len(tensor) != self.length:
            return
        found = rows_of(index, self.length)
        if found is None or isinstance(index, slice) or len(found) < FEWEST:  # a part of an order has no row numbers
            return
        rows, raw, step = found.unique(), raw_frames(2), self.run.step
        line = raw[0] if raw else None
        shared = int(torch.isin(rows, self.trained).sum())
        if line in self.told or shared in (0, len(rows), len(self.trained)):
            return
        key = line, hash(tuple(rows.tolist()))
        if is_mask(index):
            self.steps.setdefault(line, set()).add(step)
            if key in self.held and self.held[key][0] != step:
                self.tell(line, self.held[key][1])
            elif key not in self.held and len(self.held) < MOST:
                self.held[key] = step, self.fact(raw, len(rows), shared)
        elif len(self.seen) < MOST and self.seen.setdefault(key, step) != step:
            self.tell(line, self.fact(raw, len(rows), shared))

    def ended(self) -> None:
        """Emit masks of which there was one evaluation alone: those of several that never came again are drawn anew."""
        for (line, _), (_, fact) in self.held.items():
            if line not in self.told and len(self.steps[line]) == 1:
                self.tell(line, fact)

    def tell(self, line: object, fact: EvaluatedRows) -> None:
        """Emit a line, once."""
        self.told.add(line)
        self.run.emit(fact)

    def fact(self, raw: RawFrames, rows: int, shared: int) -> EvaluatedRows:
        """What is told of the rows that an evaluation takes now."""
        origin = guarded("observers.loss.evaluated_rows")(index_origin)(frames_of(raw))
        return EvaluatedRows(
            ref=self.run.ref("loss", self.run.iteration - 1), length=self.length, rows=rows, shared=shared,
            trained=len(self.trained) if self.trained is not None else 0, frame=first(raw), train_frame=first(self.raw),
            made=made_first(origin[1]) if origin is not None else (),
        )  # fmt: skip


def is_mask(index: Any) -> bool:
    """Whether an index marks rows: the same mask comes again in the next evaluation, where it is not drawn anew."""
    return getattr(index, "dtype", None) == torch.bool or str(getattr(index, "dtype", "")) == "bool"
