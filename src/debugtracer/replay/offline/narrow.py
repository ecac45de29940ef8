"""One op of a mapped replay in its recorded dtypes: for kernels that exist in no other (mkldnn_rnn_layer, the
GradScaler's)."""

from __future__ import annotations

from typing import Any

import torch
from torch._ops import OpOverload

from debugtracer.recorder.capsule.encode import decode, dtype_named
from debugtracer.recorder.capsule.recorded import OpRow
from debugtracer.replay.offline.memory import ReplayMemory


class NarrowOp:
    """A Decoder that hands out copies of a memory's tensors in the dtypes that were recorded."""

    def __init__(self, memory: ReplayMemory) -> None:
        self.memory = memory
        self.pairs: list[tuple[torch.Tensor, torch.Tensor]] = []

    def tensor(self, ref: int) -> torch.Tensor:
        """A copy in the recorded dtype."""
        wide = self.memory.tensor(ref)
        narrow = wide.to(dtype_named(self.memory.program.refs[ref].dtype))
        self.pairs.append((wide, narrow))
        return narrow

    def generator(self, number: int) -> torch.Generator:
        """Return the same generator as the memory."""
        return self.memory.generator(number)

    def dtype(self, dtype: torch.dtype) -> torch.dtype:
        """Return the dtype as recorded."""
        return dtype

    def device(self, device: torch.device) -> torch.device:
        """Return the same device as the memory."""
        return self.memory.device(device)


def run_narrow(func: OpOverload, row: OpRow, memory: ReplayMemory) -> object:
    """Execute an op in its recorded dtypes; what it writes in place is written back wide. Raises what the op raises."""
    to = NarrowOp(memory)
    args = decode(row.args, to)
    out = func(*args, **{name: decode(value, to) for name, value in row.kwargs.items() if name != "pin_memory"})
    if func._schema.is_mutable:
        for wide, narrow in to.pairs:
            if wide is not narrow:
                wide.copy_(narrow)
    return widened(out, to.pairs)


def widened(out: Any, pairs: list[tuple[torch.Tensor, torch.Tensor]]) -> Any:
    """The result with the wide tensors in place of the copies an in-place op returned."""
    if isinstance(out, (list, tuple)):
        return [widened(item, pairs) for item in out]
    return next((wide for wide, narrow in pairs if out is narrow), out)
