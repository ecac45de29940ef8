"""Norms of each layer of a rank over time, and those of one step as a snapshot in which nothing else is known."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from debugtracer.trace.store.layer_columns import COUNTS, FLOATS, NAMES, Coded, LayerColumns, coded


@dataclass(frozen=True)
class NormPiece:
    """Some steps as they were written together, shape (n,) each."""

    step: npt.NDArray[np.int64]
    layer: Coded
    role: Coded
    l2: npt.NDArray[np.float32]


@dataclass(frozen=True)
class NormTable:
    """All norms of a rank."""

    pieces: list[NormPiece]

    @cached_property
    def places(self) -> dict[int, list[tuple[NormPiece, npt.NDArray[np.int64]]]]:
        """Find the rows of each step in each piece."""
        found: dict[int, list[tuple[NormPiece, npt.NDArray[np.int64]]]] = {}
        for piece in self.pieces:
            order = np.argsort(piece.step, kind="stable")
            steps, starts = np.unique(piece.step[order], return_index=True)
            for step, rows in zip(steps.tolist(), np.split(order, starts[1:]), strict=True):
                found.setdefault(step, []).append((piece, rows))
        return found

    @property
    def steps(self) -> list[int]:
        """The steps that have a number, ascending."""
        return sorted(self.places)

    def glanced(self, step: int) -> bool:
        """Whether more was measured at a step than gradients and weights."""
        return any(
            piece.role.words[code] in ("activation", "update")
            for piece, rows in self.places[step]
            for code in np.unique(piece.role.codes[rows]).tolist()
        )

    def at(self, step: int) -> LayerColumns:
        """The norms of one step; of a tensor that was written twice the later one. That of an update stands in the row
        of its weight, as in a snapshot."""
        last: dict[tuple[str, str], float] = {}
        for piece, rows in self.places[step]:
            layers, roles = piece.layer.words, piece.role.words
            for layer, role, l2 in zip(
                piece.layer.codes[rows].tolist(), piece.role.codes[rows].tolist(), piece.l2[rows].tolist(), strict=True
            ):
                last[layers[layer], roles[role]] = l2
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
