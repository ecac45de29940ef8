"""Compares the pairs of nodes that an evaluation scores with the connections that the model is given: a link that is to
be predicted is none to send messages over."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from debugtracer.callsites.bound_names import bound_name
from debugtracer.callsites.frames import RawFrames, frames_of, raw_frames
from debugtracer.callsites.line import first
from debugtracer.callsites.origins.argument_origin import argument_origin
from debugtracer.callsites.origins.value_origin import made_first, origin, program_of
from debugtracer.errors import guarded
from debugtracer.observers.graph.connections import connects, graph_tensors
from debugtracer.observers.loss.evaluated_rows import FEWEST, LOOKS
from debugtracer.observers.loss.followed_rows import rows_of
from debugtracer.observers.model.shadow_model import is_dense
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected
from debugtracer.recorder.state.identity import ById
from debugtracer.recorder.state.weak import WeakRef
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.known_links import KnownLinks

LARGEST = 4_000_000  # connections, or numbers of a square of them, that are read (ours)
NEARLY_ALL = 0.8  # of the links of training that the model is given (ours: pairs that are drawn come twice by chance)
AGAIN = 0.25  # of the pairs of a step that come again in the next (ours: half are links where as many are drawn)
DENSEST = 0.5  # of all pairs that a graph may hold (ours: more are distances, or an attention over all)
NORMED = 4  # lines that compute a graph from itself (ours)
MOST = 64  # tensors followed in a step (ours)


class GivenGraph(NamedTuple):
    """Connections that a model was given."""

    nodes: int
    codes: Tensor
    raw: RawFrames
    name: str
    """What the line calls the model."""
    word: str
    place: int
    """Which argument it is."""


class Picked(NamedTuple):
    """Rows that were taken of what a model says of its nodes."""

    said: WeakRef[Tensor]
    rows: Tensor


class KnownLinksObserver(Observer):
    """Hears the functions of inspected steps, and of evaluations after them; keeps numbers of pairs alone."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.graph: GivenGraph | None = None
        """That of the last forward."""
        self.picked: ById[Tensor, Picked] = ById()
        self.now: list[Tensor] = []
        """Pairs that the step in flight scores."""
        self.always: Tensor | None = None
        """Pairs that training scores in each step looked at; those that are drawn anew are not among them."""
        self.looks = 0

    def reset(self) -> None:
        self.graph, self.always, self.looks = None, None, 0
        self.picked.data.clear()
        self.now.clear()

    @inspected
    def left(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note the connections that a model is given."""
        if not isinstance(output, Tensor) or not is_dense(output) or output.dim() != 2:
            return
        for place, (word, value) in enumerate([*(("", v) for v in args), *kwargs.items()]):
            held = next(graph_tensors(value), None)
            codes = codes_of(held, len(output)) if held is not None and connects(held, len(output)) else None
            if codes is not None:
                named = guarded("observers.graph.known_links")(bound_name)(module) or ""
                self.graph = GivenGraph(len(output), codes, raw_frames(3), named, word, place)
                return

    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Follow rows of nodes into what takes two of them."""
        name = getattr(function, "__name__", "")
        graph = self.graph
        if graph is None or not args or not isinstance(output, Tensor):
            return
        if name in ("__getitem__", "index_select") and isinstance(args[0], Tensor):
            said, index = args[0], args[-1]
            rows = rows_of(index, graph.nodes) if said.dim() == 2 and len(said) == graph.nodes else None
            numbers = isinstance(index, Tensor) and index.dtype != torch.bool
            if rows is not None and numbers and len(rows) >= FEWEST and len(self.picked) < MOST:
                self.picked[output] = Picked(WeakRef(said), rows)
            return
        given = args[0] if isinstance(args[0], (list, tuple)) else args[:2]
        pair = [held for value in given if isinstance(value, Tensor) and (held := self.picked.get(value)) is not None]
        if len(pair) == 2 and len(pair[0].rows) == len(pair[1].rows) and same_source(*pair):
            self.compare(graph, undirected(pair[0].rows, pair[1].rows, graph.nodes))

    def compare(self, graph: GivenGraph, codes: Tensor) -> None:
        """Take pairs of training, or compare those of an evaluation."""
        if torch.is_grad_enabled():
            if len(self.now) < MOST:
                self.now.append(codes)
            return
        if self.looks < LOOKS or self.always is None or len(self.always) < FEWEST:
            return  # batches of pairs: which of them are left out is not known
        if float(torch.isin(self.always, graph.codes).float().mean()) < NEARLY_ALL:
            return  # a graph of something else
        known = torch.isin(codes, graph.codes) & ~torch.isin(codes, self.always)
        if int(known.sum()) < FEWEST:
            return
        places = (graph.name,), graph.word, graph.place
        made = guarded("observers.graph.known_links")(filled_at)(frames_of(graph.raw), *places)
        self.run.emit(
            KnownLinks(
                ref=self.run.ref("loss", self.run.iteration - 1), nodes=graph.nodes, edges=len(graph.codes),
                pairs=len(codes), known=int(known.sum()), frame=first(raw_frames(3)), called=first(graph.raw),
                made=made or (),
            )
        )  # fmt: skip
        self.run.unsubscribe(self.left, self.called)

    @inspected
    def backward_begins(self, losses: list[Tensor]) -> None:
        """Keep the pairs that come again, and let go of what was followed."""
        self.picked.data.clear()
        if self.now:
            pairs = torch.cat(self.now).unique()
            kept = pairs if self.always is None else self.always[torch.isin(self.always, pairs)]
            self.always, self.looks = (kept if len(kept) >= AGAIN * len(pairs) else kept[:0]), self.looks + 1
            self.now.clear()


def same_source(one: Picked, other: Picked) -> bool:
    """Whether both were taken of the same tensor."""
    said = one.said()
    return said is not None and said is other.said()


def undirected(sources: Tensor, targets: Tensor, nodes: int) -> Tensor:
    """A number for each pair, the same from both ends."""
    low, high = torch.minimum(sources, targets), torch.maximum(sources, targets)
    return low * nodes + high


def codes_of(value: Tensor, nodes: int) -> Tensor | None:
    """The connections as such numbers, without those of a node with itself; None of what is too large to be read."""
    with torch._C.DisableTorchFunction():
        if value.device.type != "cpu" or (value.layout is torch.strided and value.numel() > LARGEST):
            return None
        if value.dtype == torch.int64 and value.layout is torch.strided and value.shape[0] == 2:
            pairs = value.detach()
        elif value.layout is torch.strided:
            pairs = value.detach().nonzero().t()
        else:
            pairs = value.detach().to_sparse_coo().coalesce().indices()
        apart = pairs[0] != pairs[1]
        found = undirected(pairs[0][apart], pairs[1][apart], nodes).unique()
        return found if len(found) <= DENSEST * nodes * (nodes - 1) / 2 else None


def filled_at(stack: Sequence[Frame], called: Collection[str], parameter: str, place: int) -> tuple[Frame, ...]:
    """The lines that wrote an argument, from the one that filled it: `adj = scale * adj` computes it from itself."""
    made = made_first(argument_origin(stack, called, parameter, place))
    for _ in range(NORMED):
        program = program_of(made[0].file) if made else None
        writes = [] if program is None else [n for n in program.every(ast.Assign) if n.lineno == made[0].line]
        own = [
            target.id
            for one in writes
            for target in one.targets
            if isinstance(target, ast.Name)
            and target.id in {n.id for n in ast.walk(one.value) if isinstance(n, ast.Name)}
        ]
        before = made_first(origin(own[0], made[:1])) if len(own) == 1 else ()
        if not before or before[0] in made:
            break
        made = (*before, *made)
    return made
