"""Copies of device tensors in pinned host memory, for snapshots that the device has no room for."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import torch
from torch import Tensor

from debugtracer.devices.present import device

ROOM = 0.1  # of the free memory of an accelerator that snapshots may take; above it they go to the host (ours)

THREADS = 4  # threads that torch copies with at most (ours)
TOGETHER = 32768  # elements of a tensor above which torch uses more than one (at::internal::GRAIN_SIZE)


def copying_threads(tensors: Iterable[Tensor]) -> int:
    """How many threads may be at work in a copy of these on the host: CPU time of the caller is that of one."""
    return min(THREADS, torch.get_num_threads()) if any(t.numel() > TOGETHER for t in tensors) else 1


def host_copy(value: Tensor) -> Tensor:
    """The value in memory of the host; no host sync where its device has events."""
    return device(value.device.type).host_copy(value)


def goes_to_host(
    place: str, tensors: Iterable[Tensor], wanted_bytes: int, free: Callable[[torch.device], int] | None = None
) -> bool:
    """Whether snapshots of these belong on the host (`place`: auto, device, host): when asked for, or where the device
    has no ROOM for them.

    `free` tells the free bytes of a device; default: what torch says of it. A device that cannot be asked keeps its
    snapshots."""
    there = next((t.device for t in tensors if t.device.type not in ("cpu", "meta")), None)
    if there is None or place == "device":
        return False
    return place == "host" or wanted_bytes > ROOM * (free or device(there.type).free_bytes)(there)
