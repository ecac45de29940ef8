"""Finds graphs of past steps that stay alive, by a mark on each loss and output node that is freed with the node."""

from __future__ import annotations

import sys
import weakref
from typing import Any

import torch
from torch import Tensor, nn

from debugtracer.observers.graph.graph_holder import GraphMark, held_most
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer
from debugtracer.recorder.state.leaves import leaves_of
from debugtracer.trace.facts.held_graphs import HeldGraphs

# steps whose graphs are alive when it is emitted (ours: no loop needs the graphs of sixteen updates)
GRADES = (16, 64, 256)
EVERY = 8  # steps between two counts
YOUNG = 2  # steps in flight: the loss of the step before is alive until its name is set again


class HeldGraphsObserver(Observer):
    """One small object on one node a step; no tensor and no node is held."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.marks: dict[str, list[weakref.ref[GraphMark]]] = {"loss": [], "output": []}
        self.emitted: dict[str, int] = {}
        self.unheld: set[str] = set()
        """What the stack of an update did not hold, as where a framework steps: looked for in the next forward."""

    def reset(self) -> None:
        self.marks = {"loss": [], "output": []}
        self.emitted.clear()
        self.unheld.clear()

    def backward_begins(self, losses: list[Tensor]) -> None:
        """Mark the loss of this iteration."""
        for loss in losses:
            self.mark("loss", loss)

    def left(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Mark the output of a root module."""
        if torch.is_grad_enabled():
            for _, leaf in leaves_of(output)[:1]:
                self.mark("output", leaf)
        for what in sorted(self.unheld):
            self.count(what, last=True)

    def mark(self, what: str, tensor: Tensor) -> None:
        """Mark a node that has no mark yet."""
        node: Any = tensor.grad_fn
        marks = self.marks[what]
        if node is not None and len(marks) < 4 * GRADES[-1] and GraphMark.KEY not in node.metadata:
            mark = GraphMark(self.run.step, self.run.iteration, what)
            node.metadata[GraphMark.KEY] = mark
            marks.append(weakref.ref(mark))

    def step_closed(self, optimizer: Any) -> None:
        """Count now and then."""
        if self.run.step % EVERY == 0:
            for what in self.marks:
                self.count(what)

    def count(self, what: str, last: bool = False) -> None:
        """Count the steps whose graphs are alive, and emit when they reach the next grade; where nothing on the stack
        holds them, not before the `last` look."""
        self.marks[what] = marks = [reference for reference in self.marks[what] if reference() is not None]
        old = [mark for reference in marks if (mark := reference()) is not None and mark.step < self.run.step - YOUNG]
        steps = len({mark.step for mark in old})
        grade = max((g for g in GRADES if steps >= g), default=0)
        if grade <= self.emitted.get(what, 0):
            return
        name, frame = held_most(sys._getframe(1), what, len(old))
        if not name and not last:
            self.unheld.add(what)
            return
        self.unheld.discard(what)
        self.emitted[what] = grade
        oldest = min(mark.iteration for mark in old)
        of = self.run.step - YOUNG - min(mark.step for mark in old)
        ref = self.run.ref("loss", self.run.iteration - 1)
        self.run.emit(
            HeldGraphs(ref=ref, what=what, steps=steps, of=max(of, steps), since=oldest, name=name, frame=frame)
        )

    def ended(self) -> None:
        """Emit what nothing on the stack was seen to hold."""
        for what in sorted(self.unheld):
            self.count(what, last=True)
