"""Values of buffers, copied and put back bit for bit, whatever kind of tensor: dense, sparse, nested, complex."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from debugtracer.recorder.state.version_counters import kept_versions

Fill = Callable[[list[Tensor], list[Tensor]], object]


def value_of(buffer: Tensor) -> Tensor | None:
    """A copy; None of a kind that torch does not copy (quantised by channel)."""
    try:
        return buffer.detach().clone()
    except (RuntimeError, NotImplementedError):
        return None


def is_plain(tensor: Tensor) -> bool:
    """Whether many of its kind are copied in one call: dense, with memory of its own as it is read."""
    return tensor.layout is torch.strided and not (
        tensor.is_nested or tensor.is_quantized or tensor.is_conj() or tensor.is_neg()
    )


def put(target: Tensor, value: Tensor) -> None:
    """Give a buffer its value again; the version counters of live graphs are not touched.

    (docs/rationale/replay.md#version-counters)"""
    if target.layout is torch.sparse_coo:
        with torch.no_grad(), kept_versions([target]):
            target.copy_(value)  # what is written into the .data of such a tensor does not reach it
        return
    if target.layout is torch.strided and not target.is_nested and 0 in target.stride():
        once = tuple(slice(None) if stride else slice(0, 1) for stride in target.stride())
        target, value = target[once], value[once]  # expanded: several elements are one place in memory
    target.data.copy_(value)


def renew(copies: Sequence[Tensor], buffers: Sequence[Tensor], fill: Fill) -> None:
    """Copy present values into copies of before; `fill` takes those that are copied in one call."""
    pairs = list(zip(copies, buffers, strict=True))
    together = [pair for pair in pairs if is_plain(pair[1])]
    if together:
        fill([copy for copy, _ in together], [buffer for _, buffer in together])
    if len(together) < len(pairs):
        for copy, buffer in pairs:
            if not is_plain(buffer):
                put(copy, buffer.detach())
