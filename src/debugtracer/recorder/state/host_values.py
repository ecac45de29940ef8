"""A state dict as values of the host that nobody changes any more: what it is written from while training goes on."""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch import Tensor


def host_values(value: Any, known: dict[Any, Tensor] | None = None) -> Any:
    """Copy a nested value; tensors that are the same memory stay one. Waits for the device of its tensors."""
    known = {} if known is None else known
    if isinstance(value, Tensor):
        return host_tensor(value, known)
    if isinstance(value, dict):
        made = copy.copy(value)  # with its class and attributes, such as the versions of modules
        for key, one in value.items():
            made[key] = host_values(one, known)
        return made
    if type(value) in (list, tuple):
        return type(value)(host_values(one, known) for one in value)
    return copy.deepcopy(value)


def host_tensor(tensor: Tensor, known: dict[Any, Tensor]) -> Tensor:
    """Copy one tensor; memory that was copied before is not copied again."""
    if type(tensor.data) is not Tensor or tensor.layout is not torch.strided or tensor.is_quantized:
        return tensor.detach().clone()
    where = (tensor.device, tensor.data_ptr(), tensor.shape, tensor.stride(), tensor.dtype)
    if not tensor.numel() or where not in known:
        known[where] = tensor.detach().to("cpu", copy=True)
    return known[where]
