"""Which rows of a tensor the last op that writes in place has changed."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch._ops import OpOverload

from debugtracer.trace.op import OpMeta

MOST_VALUES = 2**24  # of a tensor that is copied to be compared (ours: 64 MiB of float32)


class WrittenRows:
    """Listens to the ops of a replay; it syncs the host, and holds one copy while an op runs."""

    def __init__(self) -> None:
        self.before_it: Tensor | None = None
        self.op: str | None = None
        self.module: str | None = None
        self.rows: tuple[int, ...] = ()
        """Indices in the first dimension, where not all of them changed."""

    def forget(self) -> None:
        """Take nothing over from an earlier call."""
        self.op, self.module, self.rows = None, None, ()

    def before(self, func: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Copy what the op is about to write."""
        self.before_it = None
        written = written_by(func, args)
        if written is not None and written.dim() and 0 < written.numel() <= MOST_VALUES:
            self.before_it = written.detach().clone()

    def after(self, func: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any], out: object, meta: OpMeta) -> None:
        """Compare it, row by row."""
        written = written_by(func, args)
        if written is None:
            return
        self.op, self.module, self.rows = meta.op, meta.module, ()
        if self.before_it is not None and self.before_it.shape == written.shape:
            rows = changed_rows(self.before_it, written.detach())
            self.rows = rows if len(rows) < written.shape[0] else ()
        self.before_it = None


def written_by(func: OpOverload, args: tuple[Any, ...]) -> Tensor | None:
    """The tensor that an op writes, as a whole where the op is given a view of it; None for an op that writes none."""
    if not func._schema.is_mutable or not args or not isinstance(args[0], Tensor):
        return None
    whole = args[0]._base if args[0]._base is not None else args[0]
    return whole if whole.layout is torch.strided else None


def changed_rows(old: Tensor, new: Tensor) -> tuple[int, ...]:
    """The indices in the first dimension where a value differs; NaN is as NaN was."""
    changed = (old != new) & ~((old != old) & (new != new))
    return (
        tuple(int(row) for row in changed.flatten(1).any(1).nonzero().flatten())
        if changed.dim() > 1
        else tuple(int(row) for row in changed.nonzero().flatten())
    )
