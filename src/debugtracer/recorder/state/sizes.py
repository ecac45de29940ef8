"""The sizes of a tensor as plain numbers, of a nested one too."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.parameter import is_lazy

RAGGED = -1  # stands for a dimension whose rows have lengths of their own


def sizes(tensor: Tensor) -> tuple[int, ...]:
    """Return its shape; RAGGED where rows differ in length, (0,) where it waits for a first batch."""
    if is_lazy(tensor):
        return (0,)
    if not tensor.is_nested:
        return tuple(tensor.shape)
    if tensor.layout is torch.strided:  # it tells no shape
        return (tensor.size(0), *(RAGGED for _ in range(tensor.dim() - 1)))
    return tuple(size if type(size) is int else RAGGED for size in tensor.shape)
