"""Looks in evaluations for nearest rows of a set in itself that count the row that is asked for."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from debugtracer.callsites.frames import frames_of, raw_frames
from debugtracer.callsites.neighbour_use import NeighbourUse
from debugtracer.errors import guarded
from debugtracer.observers.model.shadow_model import is_dense
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer
from debugtracer.trace.facts.own_neighbour import RANKED, OwnNeighbour

FEWEST = 16  # rows (ours)
SAMPLED = 64  # rows and columns of which it is told that the matrix is the same when turned (ours)
LOOKS = 2  # at one line (ours)
LINES = 16  # that are looked at (ours)
NEARLY = 0.95  # of the rows have themselves as the nearest (ours: two may be equal)


class OwnNeighboursObserver(Observer):
    """Reads a column of indices and a corner of a matrix, at most twice a line."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.looks: dict[object, int] = {}

    def reset(self) -> None:
        self.looks.clear()

    def scored(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Emit a line whose nearest rows are the rows themselves, and whose use leaves none of them out."""
        if function.__name__ not in RANKED or not is_asked(args[0]):
            return
        raw = raw_frames(2)
        line = raw[:1]
        if (line not in self.looks and len(self.looks) >= LINES) or self.looks.get(line, 0) >= LOOKS:
            return
        self.looks[line] = self.looks.get(line, 0) + 1
        matrix, nearest = args[0].detach(), places(output)
        if nearest is None:
            return
        own = int((nearest[:, 0] == torch.arange(len(matrix))).sum())
        if own < NEARLY * len(matrix) or not is_turned(matrix):
            return
        if not guarded("observers.data.own_neighbours")(NeighbourUse(len(matrix)).counts_all)():
            return
        self.looks[line] = LOOKS
        self.run.emit(
            OwnNeighbour(
                ref=self.run.ref(), function=function.__name__, rows=len(matrix), neighbours=nearest.shape[1], own=own,
                frame=next(iter(frames_of(line)), None),
            )
        )  # fmt: skip


def is_asked(matrix: Any) -> bool:
    """Whether it is a square of floats in host memory, without a graph."""
    return (
        isinstance(matrix, Tensor)
        and matrix.dim() == 2
        and matrix.shape[0] == matrix.shape[1] >= FEWEST
        and matrix.is_floating_point()
        and matrix.device.type == "cpu"
        and is_dense(matrix)
    )


def places(output: Any) -> Tensor | None:
    """The columns of row numbers that a function gives, the nearest first; None where it gives none."""
    found = output if isinstance(output, Tensor) else getattr(output, "indices", None)
    if not isinstance(found, Tensor) or found.dtype != torch.int64:
        return None
    return found.reshape(len(found), -1) if found.dim() in (1, 2) and len(found) else None


def is_turned(matrix: Tensor) -> bool:
    """Whether a part of it is the same when turned, and not all alike: a set against itself."""
    picked = torch.linspace(0, len(matrix) - 1, min(SAMPLED, len(matrix))).long()
    part = matrix[picked][:, picked].double()
    spread = float(part.std())
    return spread > 0 and bool(((part - part.T).abs() <= 1e-3 * spread).all())
