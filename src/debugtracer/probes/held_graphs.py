"""Sees whether graphs of past steps stay alive: each loss and output node carries a mark of ours, which dies with the node."""

from __future__ import annotations

import sys
import weakref
from typing import Any

import torch
from torch import Tensor, nn

from debugtracer.probes.holder import Mark, held_most
from debugtracer.probes.taker import Taker
from debugtracer.recorder.leaves import leaves_of
from debugtracer.trace.facts.held_graphs import HeldGraphs

GRADES = (16, 64, 256)  # steps whose graphs are alive when it is told (ours: no loop needs the graphs of sixteen updates)
EVERY = 8  # steps between two counts
YOUNG = 2  # steps in flight: the loss of the step before is alive until its name is set again


class HeldGraphsTaker(Taker):
    """One small object on one node a step; no tensor and no node is held."""

    def __init__(self) -> None:
        super().__init__()
        self.marks: dict[str, list[weakref.ref[Mark]]] = {"loss": [], "output": []}
        self.told: dict[str, int] = {}

    def forget(self) -> None:
        """A forked child starts from nothing."""
        self.marks = {"loss": [], "output": []}
        self.told.clear()

    def backward_begins(self, losses: list[Tensor]) -> None:
        """The loss of this iteration."""
        for loss in losses:
            self.mark("loss", loss)

    def left(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """What a root module gave."""
        if torch.is_grad_enabled():
            for _, leaf in leaves_of(output)[:1]:
                self.mark("output", leaf)

    def mark(self, what: str, tensor: Tensor) -> None:
        """A node that nothing marked yet."""
        node: Any = tensor.grad_fn
        marks = self.marks[what]
        if node is not None and len(marks) < 4 * GRADES[-1] and Mark.KEY not in node.metadata:
            mark = Mark(self.desk.step, self.desk.iteration, what)
            node.metadata[Mark.KEY] = mark
            marks.append(weakref.ref(mark))

    def step_closed(self, optimizer: Any) -> None:
        """Count now and then."""
        if self.desk.step % EVERY == 0:
            for what in self.marks:
                self.count(what)

    def count(self, what: str) -> None:
        """Graphs of how many steps are alive?"""
        self.marks[what] = marks = [reference for reference in self.marks[what] if reference() is not None]
        old = [mark for reference in marks if (mark := reference()) is not None and mark.step < self.desk.step - YOUNG]
        steps = len({mark.step for mark in old})
        grade = max((g for g in GRADES if steps >= g), default=0)
        if grade <= self.told.get(what, 0):
            return
        self.told[what] = grade
        oldest = min(mark.iteration for mark in old)
        name, frame = held_most(sys._getframe(1), what, len(old))
        of = self.desk.step - YOUNG - min(mark.step for mark in old)
        ref = self.desk.ref("loss", self.desk.iteration - 1)
        self.desk.tell(HeldGraphs(ref=ref, what=what, steps=steps, of=max(of, steps), since=oldest, name=name, frame=frame))
