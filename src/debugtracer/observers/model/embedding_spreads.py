"""Measures how far the outputs of a model lie apart that is called several times in a step, as the two sides of a
contrastive loss are."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from debugtracer.callsites.frames import RawFrames, frames_of, raw_frames
from debugtracer.observers.graph.graph_walk import MOST_PART_NODES, node_of, numbers
from debugtracer.observers.model.shadow_model import is_dense, main_output
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected
from debugtracer.recorder.state.identity import ById
from debugtracer.trace.facts.embedding_spread import EmbeddingSpread
from debugtracer.trace.number import number

CALLS = 8  # of a model in a step (ours: a cell that is called for each place of a sequence is none)
FEWEST = 8  # rows of all calls (ours)
WIDTH = 1 << 16  # numbers of one output that are read (ours)


class Sums(NamedTuple):
    """One call: the number of its graph node, its rows, and their sums."""

    node: int
    raw: RawFrames
    rows: int
    first: Tensor
    """Sum of each column."""
    second: Tensor
    """Sum of its squares."""


class EmbeddingSpreadsObserver(Observer):
    """Adds up two small vectors a call, in inspected steps alone; keeps no output alive."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.calls: ById[nn.Module, list[Sums]] = ById()

    def reset(self) -> None:
        self.calls.clear()

    def missed(self) -> None:
        """Forget the calls of a step that was not seen to its end."""
        self.calls.clear()

    @inspected
    def left(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Add up the rows of an output, where the inputs differ."""
        made = main_output(output)
        given = next((v for v in (*args, *kwargs.values()) if isinstance(v, Tensor)), None)
        root = self.run.state.roots.get(module)
        if made is None or given is None or root is None or not root.has_parameters or not torch.is_grad_enabled():
            return
        node = node_of(made)
        if node is None or not is_rows(made) or not is_dense(given) or given.dim() < 2 or len(given) != len(made):
            return
        known = self.calls.get(module) or []
        if len(known) > CALLS:
            return
        with torch.no_grad(), torch._C.DisableTorchFunction():
            rows = made.detach().flatten(1).double()
            if rows.shape[1] < 2 or bool((given == given[:1]).all()):
                return
            sums = Sums(int(node._sequence_nr()), raw_frames(2), len(rows), rows.sum(0), rows.square().sum(0))
        self.calls[module] = [*known, sums]

    @inspected
    def backward_begins(self, losses: list[Tensor]) -> None:
        """Emit the spread over all calls that the loss is made of."""
        several = [(module, calls) for module, calls in self.calls.items() if 1 < len(calls) <= CALLS]
        self.calls.clear()
        reached = numbers(losses, MOST_PART_NODES) if several else set()
        for module, calls in several:
            used = [one for one in calls if one.node in reached]
            rows = sum(one.rows for one in used)
            if len(used) < 2 or rows < FEWEST or len({len(one.first) for one in used}) > 1:
                continue
            mean = torch.stack([one.first for one in used]).sum(0) / rows
            square = torch.stack([one.second for one in used]).sum(0) / rows
            apart, size = torch.stack([(square - mean.square()).clamp(min=0).mean(), square.mean()]).sqrt().tolist()
            self.run.emit(
                EmbeddingSpread(
                    ref=self.run.ref("forward"), root=type(module).__name__, calls=len(used), rows=rows,
                    frame=next(iter(frames_of(used[0].raw)), None), apart=number(apart), size=number(size),
                )
            )  # fmt: skip


def is_rows(made: Tensor) -> bool:
    """Whether an output is rows of several real numbers."""
    return is_dense(made) and made.is_floating_point() and made.dim() > 1 and 0 < made.numel() <= WIDTH
