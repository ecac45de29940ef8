"""Keeps the norms of each layer over time: every step at first, ever fewer in a long run, all around an incident; those
of activations and updates at fewer of them."""

from __future__ import annotations

from collections import deque
from time import perf_counter
from typing import NamedTuple

import torch
from torch.optim import Optimizer

from debugtracer.observers.numerics.glance import Glance
from debugtracer.observers.numerics.health import MOST_TENSORS, distinct
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer
from debugtracer.recorder.gate.norms import all_on_cpu, l2_on_cpu
from debugtracer.recorder.run_state import parameters
from debugtracer.trace.facts.layer_norms import LayerNorms, NormRole

DENSE = 512  # steps kept until only every second is, then every fourth, ...: 1e6 steps leave 6,000 (ours)
LEAST, MOST_NUMBERS = 64, 100_000  # of a model with many tensors fewer: so many numbers, but so many steps (ours)
AROUND = 32  # steps kept one by one on both sides of an incident (ours)
TOGETHER = 64  # steps that are written at once (ours)
LONGEST_S = 1.0  # seconds that they wait at most (ours): a live page is that old
MEASURED = 8  # where the gate did not read the gradients one by one: every so many steps are measured here (ours)

Names = tuple[str, ...]


class Row(NamedTuple):
    """What the gate read of one step."""

    step: int
    role: NormRole
    names: Names
    values: tuple[float, ...]


class LayerNormsObserver(Observer):
    """Waits for nothing and measures next to nothing: the gate has read these numbers, but for glances."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.glance = Glance(run)
        self.clear()

    def clear(self) -> None:
        """Start with no step kept."""
        self.every, self.kept, self.due, self.written = 1, 0, 0, -1
        self.near = -1
        """The last step of the neighbourhood of an incident."""
        self.rows: list[Row] = []
        self.before: deque[tuple[int, list[Row]]] = deque(maxlen=AROUND)
        """Steps that were passed over: an incident wants them."""
        self.due_s = 0.0
        self.names: dict[int, tuple[int, Names]] = {}
        self.glance.clear()

    def step_closed(self, optimizer: Optimizer) -> None:
        """Take what was read of this step, or pass it over, and prepare the next."""
        step = self.run.step
        glanced = self.glanced(optimizer) if step == self.glance.step and not self.run.inspecting else []
        self.take(optimizer, step, glanced)
        if step + 1 >= self.glance.due:
            self.glance.prepare(step + 1, optimizer)

    def take(self, optimizer: Optimizer, step: int, glanced: list[Row]) -> None:
        """Keep what was read of a step; all of it where there was a glance."""
        norms = self.run.state.norms
        self.keep(step, glanced)
        if not (norms.gradients or norms.weights):
            return
        wanted = step >= self.due or step <= self.near or len(glanced) > 0
        rows = self.rows_of(optimizer, step, wanted)
        if not wanted:
            self.before.append((step, rows))
            return
        self.keep(step, rows)
        if step >= self.due:
            self.kept += len(rows) > 0
            dense = min(DENSE, max(LEAST, MOST_NUMBERS // max(1, len(parameters(optimizer)))))
            self.every = 1 << (self.kept // dense)
            self.due = step - step % self.every + self.every
        now = perf_counter()
        if len(self.rows) >= 2 * TOGETHER or now >= self.due_s:
            self.due_s = now + LONGEST_S
            self.write()

    def glanced(self, optimizer: Optimizer) -> list[Row]:
        """The rows of a glance."""
        names = self.names_of(optimizer, parameters(optimizer))
        return [Row(self.run.step, *one) for one in self.glance.taken_of(optimizer, names)]

    def rows_of(self, optimizer: Optimizer, step: int, wanted: bool) -> list[Row]:
        """The norms of the step with their names."""
        norms, found = self.run.state.norms, []
        held = parameters(optimizer)
        names = self.names_of(optimizer, held)
        gradients = (
            norms.gradients.pop() if norms.gradients else self.measured(held) if wanted and not step % MEASURED else ()
        )
        if gradients:
            there = (
                names
                if len(gradients) == len(held)
                else tuple(name for name, p in zip(names, held, strict=True) if p.grad is not None)
            )
            if len(there) == len(gradients):
                found.append(Row(step, "gradient", there, gradients))
        if norms.weights and len(values := norms.weights.pop()) == len(names):
            found.append(Row(step, "weight", names, values))
        return found

    def measured(self, held: list[torch.Tensor]) -> tuple[float, ...]:
        """Measure the gradients by one fused norm: the gate has read them as a whole alone."""
        gradients = [p.grad for p in held if p.grad is not None]
        kept: deque[tuple[float, ...]] = deque(maxlen=1)
        if len(gradients) <= MOST_TENSORS and all_on_cpu(gradients):
            with torch.no_grad():
                l2_on_cpu(gradients, kept)
        return kept.pop() if kept else ()

    def names_of(self, optimizer: Optimizer, held: list[torch.Tensor]) -> Names:
        """The paths of the parameters of an optimizer, looked up once; one that no module has gets its place."""
        known = self.names.get(id(optimizer))
        if known is None or known[0] != len(held):
            paths = distinct(self.run.names())
            told = tuple(paths.get(id(p), f"parameter {n}") for n, p in enumerate(held))
            known = self.names[id(optimizer)] = len(held), told
        return known[1]

    def keep(self, step: int, rows: list[Row]) -> None:
        """Keep the rows of a step for the file."""
        self.rows += [row for row in rows if len(row.names) <= MOST_TENSORS]

    def incident(self) -> None:
        """Keep the steps just before as well, and those that follow."""
        for step, rows in self.before:
            self.keep(step, rows)
        self.before.clear()
        self.near = self.run.step + AROUND
        self.due_s = 0.0

    def ended(self) -> None:
        """Hand on what waits."""
        self.glance.drop()
        self.write()

    def remove(self) -> None:
        self.glance.drop()

    def write(self) -> None:
        """Hand the rows on, those of the same tensors together."""
        rows, self.rows = self.rows, []
        groups: dict[tuple[NormRole, Names], list[Row]] = {}
        for row in rows:
            groups.setdefault((row.role, row.names), []).append(row)
        for (role, names), mine in groups.items():
            self.run.emit(
                LayerNorms(
                    ref=self.run.ref("update"),
                    role=role,
                    names=names,
                    steps=tuple(row.step for row in mine),
                    values=tuple(row.values for row in mine),
                )
            )

    def reset(self) -> None:
        self.clear()
