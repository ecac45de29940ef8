"""Apple's GPUs."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from debugtracer.devices.device import Device, DeviceMemory


class Mps(Device):
    """torch.mps, one device, one generator, other names for the counters. Written to torch's documentation; never run
    on a Mac by us."""

    kind = "mps"

    def flag(self) -> Callable[[], bool]:
        """Return what tells whether torch can use the device: there is no flag for use."""
        return torch.backends.mps.is_available

    def usable(self) -> bool:
        """Whether this build and this machine have the device."""
        return torch.backends.mps.is_available()

    def name(self) -> str:
        """Return a fixed name: torch has none for it."""
        return "Apple GPU"

    def rng_states(self) -> list[Tensor]:
        """The state of the one generator."""
        return [torch.mps.get_rng_state()]

    def restore_rng(self, states: list[Tensor]) -> None:
        """Restore the state of the one generator."""
        if states:
            torch.mps.set_rng_state(states[0])

    def seeder(self) -> str:
        """The state of the one generator."""
        return "manual_seed" if torch.backends.mps.is_available() else ""

    def generator(self, index: int | None) -> torch.Generator:
        """Return torch's private generator, else the host's: a program that draws on the device is then not repeated
        exactly."""
        ask = getattr(torch.mps, "_get_default_mps_generator", None)
        return ask() if ask is not None else torch.default_generator

    def host_copy(self, value: Tensor) -> Tensor:
        """Copy and wait, which is short: the memory is the host's, and pinned memory is not to be had."""
        return value.detach().cpu()

    def arrival(self) -> None:
        """Return None: copies are done when they return."""
        return None

    def memory(self) -> DeviceMemory | None:
        """Read the counters; torch.mps counts no peak, so what the driver holds stands for it."""
        if not self.awake():
            return None
        held = torch.mps.driver_allocated_memory()
        return DeviceMemory(
            allocated=torch.mps.current_allocated_memory(),
            reserved=held,
            peak=held,
            total=torch.mps.recommended_max_memory(),
        )
