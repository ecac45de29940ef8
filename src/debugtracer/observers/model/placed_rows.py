"""Looks in models for stored vectors that are added along the batch: each sample gets one by its place, all positions
of it the same."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from debugtracer.callsites.frames import RawFrames, raw_frames
from debugtracer.callsites.line import first
from debugtracer.observers.model.running_module import path_of, running_module
from debugtracer.observers.model.shadow_model import is_dense, main_output
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected, of_functions
from debugtracer.recorder.tape.batches import Batch
from debugtracer.recorder.tape.moved_leaves import storage_of
from debugtracer.trace.facts.placed_rows import PlacedRows

SUMS = frozenset({"add", "__add__", "__radd__", "__iadd__", "add_"})
FEWEST = 3  # samples and positions (ours)
MOST = 8  # sums of a step (ours)
LOOKS = 8  # inspected steps with such a sum (ours)
SAMPLE = 64  # numbers of an input that are compared with the last one (ours)


class Placed(NamedTuple):
    """One sum in a model."""

    shape: tuple[int, ...]
    added: tuple[int, ...]
    stored: int
    name: str
    module: str | None
    raw: RawFrames


class PlacedRowsObserver(Observer):
    """Compares shapes in inspected steps; keeps a few numbers of the last input."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.sums: list[Placed] = []
        self.before: list[float] = []
        """The first numbers of the input in the look before."""
        self.looks = 0

    def reset(self) -> None:
        self.sums, self.before, self.looks = [], [], 0

    def missed(self) -> None:
        """Forget the sums of a step that was not seen to its end."""
        self.sums = []

    @of_functions(SUMS)
    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note a sum of samples and the first vectors of a table."""
        if getattr(function, "__name__", "") not in SUMS or len(args) < 2 or len(self.sums) >= MOST:
            return
        x, table = args[:2]
        if not (isinstance(x, Tensor) and isinstance(table, Tensor)) or not torch.is_grad_enabled():
            return
        if x.dim() == 3 and x.shape[1] == 1:
            x, table = table, x
        if is_placed(x, table) and self.run.batches.find(table) is None:
            running = running_module()
            owner, name = name_of(table, running)
            path = path_of(owner, self.run.modules()) if owner is not None else None
            stored = table._base.numel() // int(table.shape[-1])  # type: ignore[union-attr]
            self.sums.append(Placed(tuple(x.shape), tuple(table.shape), stored, name, path, raw_frames(1)))

    @inspected
    def left(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Emit the sums of a model whose first dimension is the batch."""
        sums, self.sums = self.sums, []
        given = [t for t in (*args, *kwargs.values()) if isinstance(t, Tensor) and is_dense(t)]
        if not sums or not given:
            return
        numbers = given[0].detach().flatten()[:SAMPLE].double().tolist()
        before, self.before = self.before, numbers
        if not before or before == numbers:
            return  # the first look, or one batch over and over: each place has a sample of its own
        self.looks += 1
        if self.looks >= LOOKS:
            self.run.unsubscribe(self.called, self.left, self.step_closed)
        scores = main_output(output)
        for one in sums:
            rows, positions = one.shape[:2]
            known = any(samples_of(found[0]) == rows for t in given if (found := self.run.batches.find(t)) is not None)
            told = scores is not None and scores.dim() <= 2 and scores.shape[0] == rows != positions
            if known or told:
                self.run.emit(
                    PlacedRows(
                        ref=self.run.ref(), shape=one.shape, added=one.added, stored=one.stored, name=one.name,
                        by_loader=known, module=one.module, frame=first(one.raw),
                    )
                )  # fmt: skip

    @inspected
    def step_closed(self, optimizer: Optimizer) -> None:
        """Forget what no model was left with."""
        self.sums = []


def is_placed(x: Tensor, table: Tensor) -> bool:
    """Whether a tensor has a vector for each sample of another, the same for all of its positions, and is the first
    part of a longer table that no computation made."""
    if x.dim() != 3 or tuple(table.shape) != (x.shape[0], 1, x.shape[2]) or min(x.shape[:2]) < FEWEST:
        return False
    base = table._base
    if base is None or base.grad_fn is not None or x.shape[0] == x.shape[1] or base.shape[-1:] != table.shape[-1:]:
        return False  # columns of a longer row are no vectors of a table
    return table.storage_offset() == base.storage_offset() and base.numel() > table.numel()


def samples_of(batch: Batch) -> int | None:
    """The samples that a loader made a batch of."""
    drawn = batch.drawn if batch.drawn is not None else batch.indices
    return len(drawn) if drawn is not None else batch.rows


def name_of(table: Tensor, running: nn.Module | None) -> tuple[nn.Module | None, str]:
    """The module that runs, and the name under which it has the table."""
    if running is None:
        return None, ""
    held = storage_of(table)
    named = [*running.named_buffers(), *running.named_parameters()]
    return running, next((name for name, one in named if storage_of(one) == held), "")
