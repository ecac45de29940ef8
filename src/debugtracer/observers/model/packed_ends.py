"""Looks where the rows of a padded copy of a packed sequence are read: at their ends, or behind them?"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

from debugtracer.callsites.line import first
from debugtracer.observers.graph.graph_walk import MOST_PART_NODES, numbers
from debugtracer.observers.model.read_padding import READS
from debugtracer.observers.model.read_positions import FIRST, Read, read_of, single
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected
from debugtracer.recorder.state.weak import WeakRef
from debugtracer.trace.facts.read_padding import ReadPadding
from debugtracer.trace.number import number

UNPACKS, MOVES = "_pad_packed_sequence", "index_select"
MOST = 16  # padded copies of a step (ours)
LOOKS = 8  # steps in which one was read (ours)


class Unpacked(NamedTuple):
    """A padded copy, and how long each of its rows is."""

    tensor: WeakRef[Tensor]
    lengths: Tensor


class PackedEndsObserver(Observer):
    """Reads lengths, which lie in host memory, in inspected steps; keeps no tensor with a graph."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.known: dict[int, Unpacked] = {}
        self.reads: list[tuple[Read, Tensor]] = []
        self.looks = 0

    def reset(self) -> None:
        self.forget()

    def missed(self) -> None:
        """Forget what was read in a step that was not seen to its end."""
        self.forget()

    def forget(self) -> None:
        """Drop the step in flight."""
        self.known.clear()
        self.reads = []

    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note a padded copy, the same in the order of the batch, and one position that is taken out of it."""
        name = getattr(function, "__name__", "")
        if name == UNPACKS:
            if torch.is_grad_enabled() and len(self.known) < MOST:
                padded, lengths = output
                self.known[id(padded)] = Unpacked(WeakRef(padded), lengths.detach())
            return
        known = self.known.get(id(args[0])) if self.known and args else None
        if known is None or known.tensor() is not args[0]:
            return
        if name == MOVES and isinstance(output, Tensor) and len(args) > 2:
            self.known[id(output)] = Unpacked(WeakRef(output), known.lengths[args[2].detach().cpu()])
        elif name in READS:
            read = read_of(name, args, kwargs, output)
            if read is not None:
                self.reads.append((read, known.lengths))

    @inspected
    def backward_begins(self, losses: list[Tensor]) -> None:
        """Emit what a loss is made of that was read behind the end of rows."""
        reads = self.reads
        self.forget()
        if not reads:
            return
        self.looks += 1
        if self.looks >= LOOKS:
            self.run.unsubscribe(self.called, self.backward_begins)
        alone = single([read for read, _ in reads])
        reached = numbers(losses, MOST_PART_NODES)
        for read, lengths in reads:
            if read.node in reached and any(read is one for one in alone):
                self.look(read, lengths)

    def look(self, read: Read, lengths: Tensor) -> None:
        """Emit one read, where some rows have ended before it."""
        if len(lengths) != read.shape[1 if read.dim == FIRST else 0]:
            return
        with torch.no_grad():
            behind = read.place + 1 - lengths
            inside = behind > 0
            if not bool(inside.any()):
                return
            gap, length = behind[inside].double().mean(), lengths[inside].double().mean()
        self.run.emit(
            ReadPadding(
                ref=self.run.ref(), function=read.function, pad=0, side="right",
                place=read.place if isinstance(read.place, int) else None, positions=read.shape[read.dim],
                rows=len(lengths), inside=int(inside.sum()), gap=number(float(gap)), length=number(float(length)),
                known_by="pad_packed_sequence", frame=first(read.raw), packed=True,
            )
        )  # fmt: skip
