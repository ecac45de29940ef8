"""Norms of each layer of a rank over time, and those of one step as a snapshot in which nothing else is known."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from debugtracer.trace.store.layer_columns import COUNTS, FLOATS, NAMES, LayerColumns, coded


@dataclass(frozen=True)
class NormPiece:
    """The norms of one role at one step; `l2` has the shape (layers,)."""

    step: int
    role: str
    layers: list[str]
    l2: npt.NDArray[np.float32]


@dataclass(frozen=True)
class NormTable:
    """All norms of a rank."""

    pieces: list[NormPiece]

    @cached_property
    def places(self) -> dict[int, list[NormPiece]]:
        """Find the pieces of each step."""
        found: dict[int, list[NormPiece]] = {}
        for piece in self.pieces:
            found.setdefault(piece.step, []).append(piece)
        return found

    @property
    def steps(self) -> list[int]:
        """The steps that have a number, ascending."""
        return sorted(self.places)

    def glanced(self, step: int) -> bool:
        """Whether more was measured at a step than gradients and weights."""
        return any(piece.role in ("activation", "update") for piece in self.places[step])

    def at(self, step: int) -> LayerColumns:
        """The norms of one step; of a tensor that was written twice the later one. That of an update stands in the row
        of its weight, as in a snapshot."""
        last: dict[tuple[str, str], float] = {}
        for piece in self.places[step]:
            for layer, l2 in zip(piece.layers, piece.l2.tolist(), strict=True):
                last[layer, piece.role] = l2
        updates = {layer: last.pop((layer, role)) for layer, role in list(last) if role == "update"}
        size = len(last)
        blank = coded([""] * size)
        told = {"layer": coded([layer for layer, _ in last]), "role": coded([role for _, role in last])}
        mine = [updates.get(layer) if role == "weight" else None for layer, role in last]
        values = {"l2": list(last.values()), "update_l2": [0.0 if one is None else one for one in mine]}
        known = {"l2": np.full(size, True), "update_l2": np.array([one is not None for one in mine], bool)}
        return LayerColumns(
            step=step,
            names={name: told.get(name, blank) for name in NAMES},
            counts={name: np.zeros(size, np.int32) for name in COUNTS},
            floats={name: np.array(values.get(name, [0.0] * size), np.float32) for name in FLOATS},
            known={name: known.get(name, np.full(size, False)) for name in FLOATS},
        )
