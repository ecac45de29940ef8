"""Checks on inspected steps whether a column of a flat input is the target of the loss, lays its classes apart, or a
few columns add up to it."""

from __future__ import annotations

import weakref
from typing import Any

import torch
from torch import Tensor, nn

from debugtracer.callsites.origins.column_line import column_line
from debugtracer.callsites.origins.value_origin import made_first
from debugtracer.errors import guarded
from debugtracer.observers.data.adding_up import adding_up
from debugtracer.observers.loss.loss_function import arguments
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected, of_functions
from debugtracer.recorder.state.weak import WeakRef
from debugtracer.recorder.tape.batches import LoaderInfo
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.loss_call import LOSSES
from debugtracer.trace.facts.target_column import TargetColumn

LEAST_COLUMNS = 3  # of the input: a line through one number is a lesson, not a leak (ours)
LEAST_ROWS = 8  # of the batch (ours)
MOST_COLUMNS = 4096  # correlations of one look (ours)
SORTED = 1 << 18  # numbers of a batch that are sorted column by column (ours)
CLASS_ROWS = 4  # rows for each class, at least: a target of more values is a number (ours)
APART_LOOKS = 3  # looks in a row at the same column (ours, as for a double softmax)
STRAIGHT = 1 - 1e-6  # correlation that is a straight line in float32


class TargetColumnObserver(Observer):
    """One host sync a comparison; float64 sums over a batch of rows and columns."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.inputs: list[weakref.ref[Tensor]] = []
        self.columns: tuple[int, ...] = ()
        self.looks = 0
        self.apart: set[int] = set()
        """Columns that have laid the classes apart in each of the last `apart_looks` looks."""
        self.apart_looks = 0
        self.losses = 0
        """Loss calls since the last backward: beside another loss, one that predicts a column of the input is a lesson
        of its own."""
        self.found: TargetColumn | None = None

    def reset(self) -> None:
        self.inputs.clear()
        self.losses, self.found = 0, None

    @inspected
    def backward_begins(self, losses: list[Tensor]) -> None:
        """Emit when all losses of the step are known."""
        if self.found is not None and self.losses == 1:
            self.run.emit(self.found)
        self.losses, self.found = 0, None

    @inspected
    def entered(self, module: nn.Module, args: tuple[Any, ...]) -> None:
        """Keep the flat inputs of a root."""
        if not self.run.inspecting or not torch.is_grad_enabled():
            return
        flat = [
            v for v in args if isinstance(v, Tensor) and v.dim() == 2 and v.is_floating_point() and v.grad_fn is None
        ]
        if flat and any(True for _ in module.parameters()):
            self.inputs = [WeakRef(v) for v in flat]

    @of_functions(LOSSES)
    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Take a loss with one number a row as target."""
        name = getattr(function, "__name__", "")
        if name not in LOSSES or name == "ctc_loss" or not self.inputs or not torch.is_grad_enabled():
            return
        self.losses += 1
        target = arguments(name, args, kwargs)["target"].detach()
        inputs = [value for reference in self.inputs if (value := reference()) is not None]
        if target.dim() and target.numel() == target.shape[0] >= LEAST_ROWS:
            for given in inputs:
                if (
                    given.layout is torch.strided
                    and given.shape[0] == target.shape[0]
                    and LEAST_COLUMNS <= given.shape[1] <= MOST_COLUMNS
                    and given.device == target.device
                ):
                    self.correlate(given, target.reshape(-1))

    def correlate(self, given: Tensor, target: Tensor) -> None:
        """Find the column that goes with the target best."""
        with torch.no_grad():
            x, y = given.detach().double(), target.double()
            x, y = x - x.mean(0), y - y.mean()
            together = (x * y[:, None]).sum(0) / (x.norm(dim=0) * y.norm()).clamp_min(1e-30)
            best, column = together.abs().max(0)
            same = (given.detach()[:, column] == target).all()
            numbers = [best.reshape(1), column.double().reshape(1), same.double().reshape(1), *crossings(x, y)]
            size, index, equal, *crossed = torch.cat(numbers).tolist()
        columns: tuple[int, ...] = (int(index),)
        if not size >= STRAIGHT:  # NaN too: a column of the batch is not finite
            columns = adding_up(x, y)
            self.lays_apart(given, crossed)
        if not columns:
            self.columns, self.looks = (), 0
            return
        self.looks = self.looks + 1 if columns == self.columns else 1
        self.columns = columns
        found = self.run.batches.find(given)
        frame = (found[0].loader.frame if found else None) or self.run.here()
        self.found = TargetColumn(
            ref=self.run.ref(),
            column=columns[0],
            columns=int(given.shape[1]),
            rows=int(given.shape[0]),
            looks=self.looks,
            equal=bool(equal) and len(columns) == 1,
            path=found[1] if found else "",
            frame=frame,
            together=columns if len(columns) > 1 else (),
        )

    def lays_apart(self, given: Tensor, crossed: list[float]) -> None:
        """Count the looks in which the same column alone has laid the classes of the target apart; its line is looked
        for once."""
        apart = {column for column, one in enumerate(crossed) if one == 0}
        kept = self.apart & apart
        self.apart, self.apart_looks = (kept, self.apart_looks + 1) if kept else (apart, int(bool(apart)))
        if self.apart_looks != APART_LOOKS or len(self.apart) != 1:
            return
        column, found = min(self.apart), self.run.batches.find(given)
        wide = int(given.shape[1])
        frame = guarded("target_column.line")(line_of)(found[0].loader, found[1], column, wide) if found else None
        self.found = TargetColumn(
            ref=self.run.ref(),
            column=column,
            columns=wide,
            rows=int(given.shape[0]),
            looks=self.apart_looks,
            equal=False,
            path=found[1] if found else "",
            frame=frame,
            apart=True,
        )


def line_of(loader: LoaderInfo, path: str, column: int, columns: int) -> Frame | None:
    """The line that wrote a column of a tensor of a loader, else the one that put the tensor together."""
    links = loader.origin(path)
    return column_line(links, column, columns) or next(iter(made_first(links)), None)


def crossings(x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
    """How often the class changes along each column, beyond once from each class to the next; nothing where the batch
    is too large to sort. No host sync."""
    if x.numel() > SORTED:
        return ()
    along, order = x.sort(dim=0)
    changed = y[order].diff(dim=0) != 0
    classes = (y.sort().values.diff() != 0).sum() + 1
    tied = changed & (along.diff(dim=0) == 0)
    few = (classes > 1) & (classes * CLASS_ROWS <= len(y))
    beyond = changed.sum(0) - (classes - 1) + len(y) * tied.sum(0) + len(y) * (~few).long()
    return ((beyond + len(y) * (~torch.isfinite(x).all(0)).long()).double(),)
