"""Keeps the samples of batches whose loss stands out, long before a check can judge it."""

from __future__ import annotations

import math
import weakref
from collections import deque

from torch import Tensor

from debugtracer.callsites.line_of_number import line_of_number
from debugtracer.observers.data.held_number import held_number
from debugtracer.observers.data.usual_loss import UsualLoss
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer
from debugtracer.recorder.gate.norms import scalar
from debugtracer.trace.facts.batch_content import LoaderNote
from debugtracer.trace.facts.far_number import FarNumber
from debugtracer.trace.facts.outlying_batch import OutlyingBatch
from debugtracer.trace.facts.stored_rows import StoredOddity
from debugtracer.trace.number import as_float, number

PAST = 32  # losses compared with (ours)
# above the largest of them by this share of it, and of their range (ours): a coarse sieve, the checks decide
SHARE, SPAN = 0.25, 0.5
FIRST = 4  # batches of another dataset that are its first (ours)
PER_STEPS, MOST = 50, 32  # one batch is emitted per so many backwards on average, so many at most in a row (ours)
LOOKS = 4  # in one run, at what the functions hold (ours)
OWN = -1  # in place of the number of a loader: there is none


class OutlyingBatchObserver(Observer):
    """Reads the loss where that needs no sync: on the CPU."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.past: deque[float] = deque(maxlen=PAST)
        self.usual = UsualLoss()
        self.looks = LOOKS
        self.budget = float(MOST)
        self.data: weakref.ref[object] | None = None
        """The dataset of the batch before."""
        self.long = 0
        """Steps in a row that have read it."""
        self.new = False
        """One that many steps had read was before it."""

    def reset(self) -> None:
        self.past.clear()
        self.usual.clear()

    def missed(self) -> None:
        """Learn the losses anew."""
        self.past.clear()

    def follow(self) -> None:
        """Count the steps that read one dataset, and those since another took its place."""
        batch = self.run.batches.last()
        if batch is None or batch.loader.data is None:
            return
        if self.data is None or self.data() is not batch.loader.data():
            self.new, self.long = self.long >= PAST, 0
            self.data = batch.loader.data
        self.long += 1

    def backward_begins(self, losses: list[Tensor]) -> None:
        """Compare, then learn; an outlier is not learnt while the budget lasts, so that its neighbours are emitted
        too."""
        self.follow()
        loss = losses[0] if len(losses) == 1 else None
        if loss is None or loss.numel() != 1 or loss.device.type != "cpu" or not loss.is_floating_point():
            return
        value = scalar(loss)
        if not math.isfinite(value):
            return
        if (usual := self.usual.left_by(value)) is not None:
            self.remember_number(value, usual)
        self.budget = min(self.budget + 1 / PER_STEPS, float(MOST))
        if len(self.past) == PAST and self.budget >= 1 and self.stands_out(value):
            self.budget -= 1
            self.remember(value)
        else:
            self.past.append(value)

    def remember_number(self, value: float, usual: float) -> None:
        """Emit what is far from all others in the tensors at hand, where neither a loader nor stored rows are known."""
        if not self.looks or self.run.batches.last() is not None or self.run.own_batches.told is not None:
            return
        self.looks -= 1
        held = held_number()
        if held is None:
            return
        far = held.element
        self.run.emit(
            FarNumber(
                ref=self.run.ref(), loss=value, usual=usual, name=held.name, row=held.row, place=far.place,
                value=far.value, low=far.low, high=far.high, record=line_of_number(far.value),
                made=held.made[0] if held.made else None, backward=self.run.here(),
            )
        )  # fmt: skip

    def stands_out(self, value: float) -> bool:
        """True if the value is above all of the last losses."""
        top = max(self.past)
        return value > top and value - top > max(SHARE * abs(top), SPAN * (top - min(self.past)))

    def remember(self, value: float) -> None:
        """Emit the batch fetched last, if its samples are known; where no loader delivers any, the rows of stored data
        that the program holds."""
        batch = self.run.batches.last()
        if batch is None:
            self.remember_rows(value)
        if batch is not None and batch.indices:
            self.run.emit(
                OutlyingBatch(
                    ref=self.run.ref(),
                    loss=value,
                    indices=batch.indices,
                    frame=batch.loader.frame,
                    backward=self.run.here(),
                    other_data=self.new and self.long <= FIRST,
                )
            )

    def remember_rows(self, value: float) -> None:
        """Emit rows that the program took itself, and what is far from all others in them."""
        rows, told = self.run.own_batches.rows_now(), self.run.own_batches.told
        if not rows or told is None:
            return
        here = self.run.here()
        self.run.emit(OutlyingBatch(ref=self.run.ref(), loss=value, indices=rows, frame=told.frame, backward=here))
        for leaf, far in self.run.own_batches.far_now(rows):
            samples = tuple(row for row in rows if row in far.rows)
            low, high = as_float(far.low), as_float(far.high)
            self.run.emit(
                StoredOddity(
                    ref=self.run.ref("load"), loader=LoaderNote(number=OWN, dataset=leaf.name, frame=told.frame),
                    batch=self.run.iteration, what="range", path=leaf.name,
                    rows=tuple(rows.index(row) for row in samples), samples=samples, value=far.value,
                    usual=far.high if as_float(far.value) > high else far.low, spread=number(high - low),
                    channel=far.column, training=True, made=leaf.made, frame=here,
                )
            )  # fmt: skip
