"""Copies of device tensors in pinned host memory, for snapshots that the device has no room for."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import torch
from torch import Tensor

ROOM = 0.1  # of the free memory of an accelerator that snapshots may take; above it they go to the host (ours)


def host_copy(value: Tensor) -> Tensor:
    """The value in pinned memory of the host, queued behind what the device still computes; a clone of what lies there already. No host sync."""
    if value.device.type == "cpu":
        return value.clone()
    kept = torch.empty_like(value, device="cpu", pin_memory=True)
    return kept.copy_(value, non_blocking=True)


def goes_to_host(place: str, tensors: Iterable[Tensor], wanted_bytes: int, free: Callable[[torch.device], int] | None = None) -> bool:
    """Whether snapshots of these belong on the host (`place`: auto, device, host): when asked for, or where the device has no ROOM for them.

    `free` tells the free bytes of a device; default: what torch says of it. A device that cannot be asked keeps its snapshots.
    """
    device = next((t.device for t in tensors if t.device.type not in ("cpu", "meta")), None)
    if device is None or place == "device":
        return False
    return place == "host" or wanted_bytes > ROOM * (free or free_bytes)(device)


def free_bytes(device: torch.device) -> int:
    """Free bytes of an accelerator, from its own module (`torch.cuda.mem_get_info`); very many where it has no such function."""
    ask = getattr(getattr(torch, device.type, None), "mem_get_info", None)
    return int(ask(device)[0]) if ask is not None else 2**62
