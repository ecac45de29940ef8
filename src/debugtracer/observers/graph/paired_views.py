"""Finds lists of pairs, (n, 2), that a view makes (2, n) for a model that reads two rows of connections, where a
transpose was meant."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from debugtracer.callsites.frames import RawFrames, raw_frames
from debugtracer.callsites.line import first
from debugtracer.observers.graph.connections import graph_tensors
from debugtracer.observers.graph.permuted_views import VIEWS
from debugtracer.observers.model.shadow_model import is_dense
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected, of_functions
from debugtracer.recorder.tape.moved_leaves import storage_of
from debugtracer.trace.facts.permuted_view import PermutedView

FEWEST = 16  # pairs (ours)
MOST = 64  # views that are remembered (ours)


class PairedViewsObserver(Observer):
    """Compares shapes and places in memory; reads no value and keeps no tensor alive."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.views: dict[tuple[int, int], tuple[str, RawFrames]] = {}
        """Place in memory and number of pairs -> view or reshape, and its line."""

    def reset(self) -> None:
        self.views.clear()

    @of_functions(VIEWS)
    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note such a view."""
        name = getattr(function, "__name__", "")
        if name not in VIEWS or not args or not isinstance(args[0], Tensor) or not isinstance(output, Tensor):
            return
        pairs = args[0].shape[0] if is_dense(args[0]) and args[0].dim() == 2 else 0
        if pairs < FEWEST or args[0].is_floating_point() or len(self.views) >= MOST:
            return
        place = storage_of(output) if tuple(args[0].shape) == (pairs, 2) and tuple(output.shape) == (2, pairs) else None
        if place is not None:
            self.views[place, pairs] = name, raw_frames(2)

    @inspected
    def left(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Tell a view that a model is given as connections between what it answers for."""
        if not self.views or not isinstance(output, Tensor) or not torch.is_grad_enabled():
            return
        given = [tensor for value in (*args, *kwargs.values()) for tensor in graph_tensors(value)]
        for value in given:
            if not is_dense(value) or value.dim() != 2 or len(value) != 2 or not value.is_contiguous():
                continue
            place = storage_of(value)
            found = self.views.pop((place, value.shape[1]), None) if place is not None else None
            if found is not None and has_other(given, value) and not is_same(value):
                name, raw = found
                self.run.emit(
                    PermutedView(
                        ref=self.run.ref(), function=name, shape=(value.shape[1], 2), result=(2, value.shape[1]),
                        parts=0, frame=first(raw), reader=type(module).__name__, reader_frame=first(raw_frames(2)),
                    )
                )  # fmt: skip


def has_other(given: list[Tensor], pairs: Tensor) -> bool:
    """Whether these are numbers of rows of another argument, nearly up to its last one: tokens of two texts are not."""
    rows = [len(v) for v in given if v is not pairs and is_dense(v) and v.dim() and v.is_floating_point()]
    return any(int(pairs.max()) < count <= 2 * (int(pairs.max()) + 1) for count in rows)


def is_same(rows: Tensor) -> bool:
    """Whether the two rows hold the pairs that they were made of: of a list with each pair both ways, one half after
    the other, they do."""
    pairs, length = rows.reshape(-1, 2), int(rows.max()) + 1
    return torch.equal((pairs[:, 0] * length + pairs[:, 1]).sort()[0], (rows[0] * length + rows[1]).sort()[0])
