"""Compares stored arrays of a program without a DataLoader, some steps apart: which target has each input?"""

from __future__ import annotations

import numpy as np
from torch import Tensor

from debugtracer.callsites.frames import frames_of, raw_frames
from debugtracer.callsites.origins.order_origin import order_of
from debugtracer.callsites.origins.value_origin import origin
from debugtracer.errors import guarded
from debugtracer.observers.data.own_batches import MOST_ROWS, OwnBatch, OwnLeaf
from debugtracer.observers.data.pair_changes import TargetedRows, pair_change, row_codes
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.moved_pairs import MovedPairs

LATER = 8  # steps between two looks at the least (ours)
LOOKS = 4  # that are compared with the first (ours)


class MovedArraysObserver(Observer):
    """Hears of arrays that others look for in inspected steps; keeps a number for each row."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.reset()

    def install(self) -> None:
        """Ask to be told of the arrays that are found."""
        self.run.own_batches.listeners.append(guarded("observers.data.moved_arrays")(self.look))

    def reset(self) -> None:
        self.before: TargetedRows | None = None
        self.names = ("", "")
        self.step = self.looks = 0

    def look(self, batch: OwnBatch) -> None:
        """Take the first look at the arrays of a step, or compare with it."""
        given = next((one for one in batch.leaves if one.path.startswith("input")), None)
        target = next((one for one in batch.leaves if one.path.startswith("target")), None)
        if given is None or target is None or self.looks >= LOOKS:
            return
        names = given.name, target.name
        if self.before is not None and names == self.names and self.run.step < self.step + LATER:
            return
        pairs = pairs_of(given.store, target.store)
        if pairs is None:
            return
        if self.before is None or names != self.names or len(pairs.inputs) != len(self.before.inputs):
            self.before, self.names, self.step = pairs, names, self.run.step
            return
        self.looks += 1
        found = pair_change(self.before, pairs, whole=True)
        if found is None:
            return
        self.looks = LOOKS
        line = guarded("observers.data.moved_arrays.line")(self.line)(target if found.moved == "targets" else given)
        self.run.emit(
            MovedPairs(
                ref=self.run.ref("load"), data=" and ".join(names), moved=found.moved, rows=found.rows,
                changed=found.changed, known=found.known, first=self.step, drawn=False, frame=line,
                loader_frame=batch.frame or self.run.here(),
            )
        )  # fmt: skip

    def line(self, leaf: OwnLeaf) -> Frame | None:
        """The line that puts an array into another order."""
        held = leaf.column.held.name if leaf.column is not None else ""
        return order_of(origin(held, frames_of(raw_frames(1)))) if held else None


def pairs_of(inputs: Tensor, targets: Tensor) -> TargetedRows | None:
    """The rows of two arrays; None where one is not read."""
    if len(inputs) != len(targets) or len(inputs) > MOST_ROWS or inputs.dim() < 2:
        return None
    x, y = row_codes(inputs), row_codes(targets)
    return None if x is None or y is None else TargetedRows(x, y, np.arange(len(x)))
