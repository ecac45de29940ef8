"""Looks where the padding index of an embedding stands in the ids that a model is given: at an end of the texts, or
between their words."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from debugtracer.observers.data.unseen_tokens import first_ids
from debugtracer.observers.graph.lost_layers import made_at
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected
from debugtracer.trace.facts.pad_inside import PadInside

LOOKS = 4  # at a run (ours)
STRAY = 0.02  # share of texts with a padding alone inside, up to which it stands at ends (ours)


class PadsInsideObserver(Observer):
    """Reads ids on the CPU in inspected steps, a few times in a run."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.looks = 0
        self.width, self.writes = 0, False
        """Ids a row of the last call without a graph; whether a model has written texts, a token at a time."""

    def reset(self) -> None:
        self.looks = self.width = 0
        self.writes = False

    @inspected
    def left(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Look at the ids of a call in training; what a model has written is no text of the data."""
        if self.looks >= LOOKS or self.writes:
            return
        if not torch.is_grad_enabled():
            width = width_of((*args, *kwargs.values()))
            self.writes = width == 1 or (width == self.width + 1 and self.width > 0)
            self.width = width
            return
        if not module.training:
            return
        self.looks += 1
        embeddings = [(name, m) for name, m in module.named_modules() if isinstance(m, nn.Embedding)]
        tables = [(name, m) for name, m in embeddings if m.padding_idx is not None]
        ids = first_ids((*args, *kwargs.values())) if len({m.padding_idx for _, m in tables}) == 1 else None
        if ids is None or ids.dim() != 2 or min(ids.shape) < 3:
            return
        name, table = tables[0]
        pad = int(table.padding_idx or 0)
        alone, ends = stands(ids, pad)
        turned = stands(ids.t(), pad)
        if float(turned[0].any(1).double().mean()) <= STRAY:  # time first
            alone, ends = turned
        self.run.emit(
            PadInside(
                ref=self.run.ref(), root=type(module).__name__, module=name, pad=pad, rows=alone.shape[0],
                inside=int(alone.any(1).sum()), ends=int(ends.sum()), columns=int(alone.any(0).sum()),
                frame=made_at([module], f"{name}.weight"),
            )
        )  # fmt: skip


def width_of(values: tuple[Any, ...]) -> int:
    """The width of the rows of the first argument that can hold ids; 0 where none does."""
    found = (v.shape[1] for v in values if isinstance(v, Tensor) and v.dim() == 2 and not v.is_floating_point())
    return next(found, 0)


def stands(ids: Tensor, pad: int) -> tuple[Tensor, Tensor]:
    """Where the padding stands alone between two other ids (rows, columns), and which rows it fills at an end."""
    is_pad = ids == pad
    alone = torch.zeros_like(is_pad)
    alone[:, 1:-1] = is_pad[:, 1:-1] & ~is_pad[:, :-2] & ~is_pad[:, 2:]
    return alone, is_pad[:, 0] | is_pad[:, -1]
