"""How many bytes a tensor holds, of every kind that may lie in a module or a batch."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.parameter import is_lazy
from torch.optim import Optimizer

DEVICE_BYTES_S = 5e11  # bytes copied per second on an accelerator, a low guess (ours: H100 and MI300 reach 3e12)


def held_bytes(tensor: Tensor) -> int:
    """The bytes of its values, of a sparse one of values and indices; 0 of a lazy or nested one, which tells none."""
    if is_lazy(tensor) or tensor.is_nested:
        return 0
    if tensor.layout is torch.strided:
        return int(tensor.nbytes)
    if tensor.layout is torch.sparse_coo:
        return int(tensor._values().nbytes + tensor._indices().nbytes)
    try:
        return int(tensor.values().nbytes)
    except (RuntimeError, NotImplementedError):  # a layout without values (mkldnn)
        return 0


def device_s(live: list[Optimizer], parameters: Callable[[Optimizer], list[Tensor]]) -> float:
    """What the copies take on an accelerator, where the host does not wait for them: read and written once, with the
    moments."""
    bytes_there = sum(held_bytes(p) for o in live for p in parameters(o) if p.device.type != "cpu")
    return 6 * bytes_there / DEVICE_BYTES_S
