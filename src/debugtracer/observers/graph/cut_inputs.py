"""Follows what trained networks made and what goes on of it without its graph, into what has one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from torch import Tensor, nn

from debugtracer.callsites.frames import RawFrames, raw_frames
from debugtracer.observers.graph.graph_walk import MOST_PART_NODES, has_graph, leaves, node_of, parameter_ids
from debugtracer.observers.optimizer.score_gradients import is_plain, share_memory
from debugtracer.recorder.state.weak import WeakRef
from debugtracer.recorder.tape.entry import tensors

MOST = 32  # tensors of a kind that are remembered (ours)
MOST_ENTRIES = 256  # places where one enters a graph (ours)


class Piece(NamedTuple):
    """A tensor that a trained network made."""

    tensor: WeakRef[Tensor]
    weights: frozenset[int]
    """Ids of the parameters of that network."""
    cut: RawFrames
    """The line that took it out of the graph; () where it has one."""
    iteration: int


class CutInput(NamedTuple):
    """A call with a graph that took such a tensor without its graph."""

    weights: frozenset[int]
    cut: RawFrames
    """The line that took it out of the graph; () where that was not seen, or is older than the last backward."""
    taken: RawFrames


class CutInputs:
    """Holds identities alone."""

    def __init__(self) -> None:
        self.pieces: list[Piece] = []
        self.entries: dict[int, CutInput] = {}
        """Number of a node -> what entered there."""

    def forget(self) -> None:
        """Drop all that was followed."""
        self.pieces, self.entries = [], {}

    def left(self, module: nn.Module, given: Any, output: Any, iteration: int) -> None:
        """Note what a root call took, and what it made."""
        weights = frozenset(id(p) for p in module.parameters() if p.requires_grad)
        made = [value for value in tensors(output) if is_plain(value) and value.is_floating_point()]
        if not weights or not made:
            return
        raw = raw_frames(2)
        found = self.piece_of((v for v in tensors(given) if not v.requires_grad), weights)
        if found is not None:
            self.enter(made, found, iteration, raw)
        for value in made[:4]:
            self.keep(Piece(WeakRef(value), weights, () if value.requires_grad else raw, iteration))

    def called(self, function: Any, given: Any, output: Any, iteration: int) -> None:
        """Follow one function, in an inspected step."""
        ends = getattr(function, "__name__", "") in ("detach", "__get__")
        if not ends and not self.pieces:
            return
        values = list(tensors(given))
        if ends:
            source = values[0] if values else None
            if is_plain(output) and source is not None and has_graph(source) and not output.requires_grad:
                weights = parameter_ids(leaves([source], MOST_PART_NODES))
                if weights:
                    self.keep(Piece(WeakRef(output), weights, raw_frames(2), iteration))
            return
        known = next((one for v in values if not v.requires_grad and (one := self.known(v)) is not None), None)
        if known is None:
            return
        made = [value for value in tensors(output) if is_plain(value) and value.is_floating_point()]
        self.enter(made, known, iteration, ())
        for value in made[:4]:
            if not value.requires_grad:
                self.keep(known._replace(tensor=WeakRef(value)))

    def enter(self, made: Iterable[Tensor], piece: Piece, iteration: int, taken: RawFrames) -> None:
        """Note that a graph begins that took a piece without its own."""
        cut = piece.cut if piece.iteration == iteration else ()
        for value in made:
            if (node := node_of(value)) is not None:
                if len(self.entries) >= MOST_ENTRIES:
                    del self.entries[next(iter(self.entries))]
                self.entries[int(node._sequence_nr())] = CutInput(piece.weights, cut, taken or cut)

    def keep(self, piece: Piece) -> None:
        """Remember the last ones."""
        self.pieces = [*self.pieces[-MOST + 1 :], piece]

    def known(self, value: Tensor) -> Piece | None:
        """What is known of a tensor without a graph: by identity."""
        return next((one for one in reversed(self.pieces) if one.tensor() is value and one.cut), None)

    def piece_of(self, given: Iterable[Tensor], weights: frozenset[int]) -> Piece | None:
        """The piece among what a network was given, by identity or else by memory; none of its own."""
        for value in given:
            if not is_plain(value) or not value.numel():
                continue
            found = self.known(value)
            if found is None:
                alive = ((one, t) for one in reversed(self.pieces) if (t := one.tensor()) is not None)
                found = next((one for one, t in alive if share_memory(t, value)), None)
            if found is not None and found.weights.isdisjoint(weights):
                return found
        return None
