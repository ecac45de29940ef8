"""How many bytes a tensor holds, of every kind that may lie in a module or a batch."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.parameter import is_lazy


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
