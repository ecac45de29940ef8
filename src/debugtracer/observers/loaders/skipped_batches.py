"""Counts batches that the loop skips: a forward with a graph in training mode, and no update before the next batch of
the same pass."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from debugtracer.observers.data.graph_numbers import numbers_in
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer
from debugtracer.recorder.tape.batches import Batch, LoaderInfo
from debugtracer.recorder.tape.entry import tensors
from debugtracer.trace.facts.skipped_batches import LAST, SkippedBatches

LEAST = 20  # skipped batches at which they are emitted (ours)
OUTPUTS = 8  # outputs of a forward that are followed (ours)
WALKS = 64  # graphs walked per run, to separate a batch that is skipped from losses that are added up (ours)
ADDED_UP = 8  # such graphs that held an earlier batch, after which the loop is known to add up its losses (ours)
SHOWN = 16  # dataset indices of a kind named (ours)
PASSES = 16  # passes over loaders that are followed (ours)


@dataclass(eq=False)
class LoaderPass:
    """One pass over a loader; a look at the training loss may begin another one of the same loader in the middle of
    it."""

    loader: LoaderInfo
    number: int
    trains: bool = False
    """An update came in it."""


@dataclass(eq=False)
class TrainedBatch:
    """A batch in flight."""

    batch: Batch
    step: int
    turn: LoaderPass
    outputs: list[int] = field(default_factory=list)
    """Sequence numbers of the graph nodes that made the outputs of its forwards; a node itself would keep the graph
    alive."""
    backward: bool = False
    cleared: bool = False
    """Its gradients were cleared before any update."""
    updated: bool = False


class SkippedBatchesObserver(Observer):
    """A few microseconds a batch; a graph is walked only where a batch seems to be left out."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.reset()

    def reset(self) -> None:
        self.now: TrainedBatch | None = None
        self.passes: list[LoaderPass] = []
        self.waiting: list[TrainedBatch] = []
        """Without an update so far, whose fate the next update of their pass decides."""
        self.skips: deque[tuple[int, int, str]] = deque()
        """(number among all batches, step, how) of each skipped one."""
        self.batches = self.emitted = self.walks = self.added_up = 0
        self.wrote = self.good = False
        self.samples: list[int] = []
        self.suspects: Counter[int] = Counter()
        self.used: set[int] = set()

    def missed(self) -> None:
        """Leave the batches in flight: whether they were used was not seen."""
        self.now, self.wrote = None, False
        self.waiting.clear()
        self.passes.clear()

    def fetched(self, batch: Batch, data: Any) -> None:
        """Close the batch before this one."""
        past, self.now = self.now, TrainedBatch(batch, self.run.step, self.turn_of(batch))
        if past is None or not (past.outputs or past.updated):
            return
        self.batches += 1
        if not past.updated and self.added_up < ADDED_UP:
            self.waiting.append(past)
            del self.waiting[:-LAST]

    def turn_of(self, batch: Batch) -> LoaderPass:
        """The pass that this batch goes on with, or a new one."""
        before = [
            one for one in self.passes if batch.number and one.loader is batch.loader and one.number == batch.number - 1
        ]
        turn = max(before, key=lambda one: one.trains, default=None)
        if turn is None:
            turn = LoaderPass(batch.loader, batch.number)
            self.passes = [*self.passes[1 - PASSES :], turn]
        turn.number = batch.number
        return turn

    def left(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note a forward in training, with a graph."""
        now = self.now
        if now is None or not module.training or not torch.is_grad_enabled() or len(now.outputs) >= OUTPUTS:
            return
        now.outputs += [t.grad_fn._sequence_nr() for t in tensors(output) if t.grad_fn is not None][:OUTPUTS]
        hit = next(
            (found for given in tensors((args, kwargs)) if (found := self.run.batches.find(given)) is not None), None
        )
        if hit is not None and hit[0].loader is now.batch.loader:
            now.batch = hit[0]  # a loader that fetches ahead

    def backward_begins(self, losses: list[Tensor]) -> None:
        """Do earlier batches take part in it? Then their losses were added up."""
        without = [one for one in self.waiting if not one.backward]
        if without and self.walks < WALKS:
            self.walks += 1
            there = numbers_in(losses, {number for one in without for number in one.outputs})
            taking_part = [one for one in without if there & set(one.outputs)]
            self.added_up += bool(taking_part)
            self.waiting = [one for one in self.waiting if one not in taking_part]
        if self.now is not None:
            self.now.backward = True

    def zeroed(self, owner: Any) -> None:
        """Note that gradients of batches that have changed nothing are thrown away."""
        for one in [*self.waiting, *([self.now] if self.now is not None else [])]:
            one.cleared = one.cleared or one.backward

    def step_begins(self, optimizer: Optimizer) -> None:
        """Note that the update is written."""
        self.wrote = True

    def step_closed(self, optimizer: Optimizer) -> None:
        """Count an update, or one that a scaler has skipped."""
        wrote, self.wrote = self.wrote, False
        now = self.now
        self.batches += now is None  # no loader: each update is a batch
        if now is not None:
            now.updated = now.turn.trains = True
            self.settle(now)
        if wrote:
            self.clear_of_suspicion(now)
        elif self.good and self.run.state.health.held_at != self.run.step:  # what we leave out has a budget of its own
            self.skip(now.batch if now is not None else None, self.run.step, "scaler")
        self.good = self.good or wrote
        if len(self.skips) >= max(LEAST, 2 * self.emitted):
            self.emit()

    def settle(self, now: TrainedBatch) -> None:
        """Decide which batches of this pass that waited for an update were used."""
        waiting, self.waiting = self.waiting, []
        for one in waiting:
            if one.turn is not now.turn or one.batch.number >= now.batch.number:
                continue  # of another pass, which no update has followed: an evaluation
            if one.backward and not one.cleared:
                self.clear_of_suspicion(one)
            else:
                self.skip(one.batch, one.step, "cleared" if one.backward else "unused")

    def skip(self, batch: Batch | None, step: int, how: str) -> None:
        """Count one more skipped batch."""
        self.skips.append((self.batches, step, how))
        while self.skips[0][0] <= self.batches - LAST:
            self.skips.popleft()
        indices = (batch.indices or ()) if batch is not None else ()
        self.samples += indices[: max(SHOWN - len(self.samples), 0)]
        if len(self.suspects) < LAST:
            self.suspects.update(indices)

    def clear_of_suspicion(self, one: TrainedBatch | None) -> None:
        """Note that the samples of this batch were used."""
        if self.suspects and one is not None and one.batch.indices is not None:
            self.used.update(index for index in one.batch.indices if index in self.suspects)

    def emit(self) -> None:
        """Emit the count of skipped batches."""
        self.emitted = len(self.skips)
        hows = Counter(how for _, _, how in self.skips)
        never = sorted(index for index, count in self.suspects.items() if count >= 3 and index not in self.used)
        self.run.emit(
            SkippedBatches(
                ref=self.run.ref("update", self.run.iteration - 1),
                skipped=len(self.skips),
                batches=min(max(self.batches, len(self.skips)), LAST),
                first=self.skips[0][1],
                last=self.skips[-1][1],
                unused=hows["unused"],
                scaler=hows["scaler"],
                frame=self.run.here(),
                samples=tuple(self.samples),
                never_used=tuple(never[:SHOWN]),
            )
        )

    def ended(self) -> None:
        """Emit what came since the last time."""
        if len(self.skips) >= max(LEAST, self.emitted + 1):
            self.emit()
