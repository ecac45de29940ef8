"""Looks once at the stored arrays of each dataset: were they standardised by their own mean and deviation?"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import TensorDataset

from debugtracer.callsites.definitions import frame_at, parsed, targets_of
from debugtracer.callsites.frame_locals import locals_of
from debugtracer.callsites.program_stack import program_stack
from debugtracer.errors import guarded
from debugtracer.observers.loaders.loader_history import LoaderHistories
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer
from debugtracer.recorder.tape.batches import Batch, LoaderInfo
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.own_scale import OwnScale

FEWEST = 32  # rows (ours: of a few a mean of 0 is soon met)
LARGEST = 1 << 24  # values of an array that is looked at, once (ours: 0.05 s)
# of a mean from 0 and a deviation from 1 (ours: float32 stays below 1e-6; the deviation of the mean of a million rows
# is 1e-3)
ROUNDING = 2e-5
ARRAYS = 8  # of one dataset (ours)
LOADERS = 8  # that are looked at (ours)


class Held:
    """An array as the program holds it; equal to itself alone."""

    def __init__(self, value: Any) -> None:
        self.value = value


class OwnScalesObserver(Observer):
    """Reads each array once, at the first batch of its loader; keeps nothing."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.histories = LoaderHistories()
        self.asked: set[int] = set()

    def reset(self) -> None:
        self.histories.clear()
        self.asked.clear()

    def loader_iterated(self, info: LoaderInfo, iterator: Any) -> None:
        """Count the loaders as their batches are counted."""
        self.histories.of(info)

    def fetched(self, batch: Batch, data: Any) -> None:
        """Look at the arrays that the first batch of a loader was taken from."""
        number = self.histories.of(batch.loader).note.number
        if number in self.asked:
            return
        self.asked.add(number)
        if len(self.asked) >= LOADERS:
            self.run.unsubscribe(self.loader_iterated, self.fetched)
        with torch.no_grad(), torch._C.DisableTorchFunction():
            self.look(number, batch)

    def look(self, number: int, batch: Batch) -> None:
        """Emit the arrays of which a tensor of the batch holds the rows."""
        stored = dict(arrays(batch.loader.dataset_held()))
        rows = batch.indices
        if not stored or not rows:
            return
        for path, leaf in batch.tensors():
            held = next((one for one, table in stored.items() if holds(table, rows, leaf)), None)
            if held is None:
                continue
            table = stored[held]
            own, of = own_scaled(table)
            if own:
                made = guarded("own_scales.made")(batch.loader.made)(path) or ()
                named = guarded("own_scales.named")(named_at)(held)
                self.run.emit(
                    OwnScale(
                        ref=self.run.ref("load"), number=number, path=path, rows=len(table), columns=own, of=of,
                        stored=mark_of(table), frame=named or (made[-1] if made else None),
                        made=next(iter(made), None),
                    )
                )  # fmt: skip


def arrays(dataset: Any) -> Iterator[tuple[Held, Tensor]]:
    """What a dataset holds as a table of numbers, one row a sample."""
    if isinstance(dataset, TensorDataset):
        stored: list[Any] = list(dataset.tensors)
    else:
        stored = list(getattr(dataset, "__dict__", {}).values())
    for value in stored[:ARRAYS]:
        table = value
        if isinstance(value, np.ndarray) and not isinstance(value, np.memmap) and value.dtype.kind == "f":
            table = torch.from_numpy(value if value.flags.writeable else value.copy())
        if type(table) is Tensor and table.is_cpu and table.is_floating_point() and is_table(table):
            yield Held(value), table.detach()


def is_table(value: Tensor) -> bool:
    """Whether it has rows and columns, and neither too few nor too many."""
    whole = value.layout is torch.strided and value.dim() == 2
    return whole and len(value) >= FEWEST and value.numel() <= LARGEST


def named_at(held: Held) -> Frame | None:
    """The line that last gave this array its name, in a function that runs; None where it has none. Reads source."""
    for frame in program_stack(sys._getframe(1)):
        names = {name for name, value in locals_of(frame).items() if value is held.value}
        lines = [
            line
            for line, node in parsed(frame.f_code)
            if isinstance(node, (ast.Assign, ast.AnnAssign))
            and any(isinstance(target, ast.Name) and target.id in names for target in targets_of(node))
        ]
        if lines:
            return frame_at(frame.f_code, max(lines))
    return None


def holds(table: Tensor, rows: tuple[int, ...], leaf: Tensor) -> bool:
    """Whether a tensor of a batch is these rows of a table."""
    if leaf.shape != (len(rows), *table.shape[1:]) or not leaf.is_floating_point() or max(rows) >= len(table):
        return False
    return bool(torch.equal(table[list(rows)].to(leaf.dtype), leaf.detach().cpu()))


def own_scaled(table: Tensor) -> tuple[int, int]:
    """How many columns have mean 0 and deviation 1 to rounding, and how many vary; none where the rows of a person, a
    day or the like were standardised by themselves, part by part."""
    values = table.double()
    mean, many = values.mean(0), len(values)
    spread = (values - mean).square().sum(0)
    varies = spread > 0
    near = [((spread / n).sqrt() - 1).abs() <= ROUNDING for n in (many, many - 1)]
    own = varies & (mean.abs() <= ROUNDING) & (near[0] | near[1])
    if in_parts(values[:, own]):
        return 0, int(varies.sum())
    return int(own.sum()), int(varies.sum())


def in_parts(values: Tensor) -> bool:
    """Whether the first rows of a table have mean 0 as well, in all columns at once."""
    counts = torch.arange(1, len(values), dtype=values.dtype)[:, None]
    return bool(((values.cumsum(0)[:-1] / counts).abs() <= ROUNDING).all(1).any())


def mark_of(table: Tensor) -> int:
    """A number that is the same for two copies of a table."""
    return hash((len(table), *table[0].tolist(), *table[-1].tolist())) & (2**53 - 1)
