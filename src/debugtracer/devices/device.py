"""The contract of a device: what we ask of a backend of torch, under the names that torch.accelerator and most vendors
use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import msgspec
import torch
from torch import Tensor


class DeviceMemory(msgspec.Struct, frozen=True, kw_only=True):
    """Bytes on one device."""

    allocated: int
    """In tensors."""
    reserved: int
    """Held by the allocator."""
    peak: int
    """The most in tensors since the process began or the user reset it."""
    total: int
    """Of the device."""


class Device:
    """One kind of device; asking never wakes one that the process does not use.

    A backend is one file: a subclass that names its `kind` and overrides what its module (`torch.<kind>`) calls
    otherwise. A kind without a file gets this class, which holds for every backend that names things as torch.cuda
    does.
    """

    kind: str = ""
    """`torch.device.type`."""
    blocking: ClassVar[str] = ""
    """The environment variable that makes the host wait for each kernel, from the backend's documentation."""
    sums_float64: ClassVar[bool] = False
    """Whether it sums in float64 at about the speed at which it reads memory."""

    def __init__(self, kind: str | None = None) -> None:
        self.kind = kind or self.kind

    @property
    def module(self) -> Any:
        """Return `torch.<kind>`, or None where this build of torch has none."""
        return getattr(torch, self.kind, None)

    def flag(self) -> Callable[[], bool] | None:
        """Return what tells whether this process uses the device, without a sync; None where nothing does."""
        ask: Callable[[], bool] | None = getattr(self.module, "is_initialized", None)
        return ask

    def awake(self) -> bool:
        """Whether this process uses the device. Reads a flag."""
        ask = self.flag()
        return bool(ask is not None and ask())

    def usable(self) -> bool:
        """Whether this machine has the device. May start the driver: for commands, never for hooks."""
        ask = getattr(self.module, "is_available", None)
        return bool(ask is not None and ask())

    def name(self) -> str:
        """What its vendor calls it. May start the driver."""
        ask = getattr(self.module, "get_device_name", None)
        return str(ask()) if ask is not None else self.kind

    def rng_states(self) -> list[Tensor]:
        """The state of each device's generator; host memory, no sync."""
        ask = getattr(self.module, "get_rng_state_all", None)
        return list(ask()) if ask is not None else []

    def restore_rng(self, states: list[Tensor]) -> None:
        """Restore the states of all generators."""
        if states:
            self.module.set_rng_state_all(states)

    def seeder(self) -> str:
        """The function of its module that seeds the generator of every device of the kind; empty where this build has
        none."""
        return "manual_seed_all" if hasattr(self.module, "manual_seed_all") else ""

    def generator(self, index: int | None) -> torch.Generator:
        """The generator that ops on this device draw from; the host's where the backend shows none."""
        generators = getattr(self.module, "default_generators", ())
        if not generators:
            return torch.default_generator
        return generators[self.module.current_device() if index is None else index]  # type: ignore[no-any-return]

    def host_copy(self, value: Tensor) -> Tensor:
        """The value in pinned memory of the host, queued behind what the device still computes; without events in the
        backend the host waits."""
        if not hasattr(self.module, "Event"):
            return value.detach().cpu()
        return torch.empty_like(value, device="cpu", pin_memory=True).copy_(value, non_blocking=True)

    def arrival(self) -> Any:
        """An event that ends with what is queued now, None where there is nothing to wait for."""
        if not hasattr(self.module, "Event"):
            return None
        event = self.module.Event()
        event.record()
        return event

    def memory(self) -> DeviceMemory | None:
        """Read the current device from counters of the allocator; None where it is not in use or not counted. No
        sync."""
        counts = self.module
        if not self.awake() or not hasattr(counts, "memory_allocated") or not hasattr(counts, "get_device_properties"):
            return None
        return DeviceMemory(
            allocated=counts.memory_allocated(),
            reserved=counts.memory_reserved(),
            peak=counts.max_memory_allocated(),
            total=counts.get_device_properties(counts.current_device()).total_memory,
        )

    def free_bytes(self, device: torch.device) -> int:
        """What is free there; very many where the backend cannot say."""
        ask = getattr(self.module, "mem_get_info", None)
        return int(ask(device)[0]) if ask is not None else 2**62

    def saturates(self) -> bool:
        """Whether overflow is written as the largest number, with a flag instead of Inf. Called once the device is in
        use."""
        return False

    def overflowed(self) -> bool:
        """Whether the overflow flag was set since it was last cleared. Syncs the host."""
        return False

    def clear_overflow(self) -> None:
        """Clear it. Queued, no sync."""
