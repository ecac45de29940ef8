"""Apple's GPUs."""

from __future__ import annotations

import torch
from torch import Tensor

from debugtracer.devices.device import Device, DeviceMemory


class Mps(Device):
    """torch.mps, one device, one generator, other names for the counters. Written to torch's documentation; never run on a Mac by us."""

    kind = "mps"

    def awake(self) -> bool:
        """There is no flag for use: it counts as used where torch can use it."""
        return torch.backends.mps.is_available()

    def usable(self) -> bool:
        """This build and this machine have one."""
        return torch.backends.mps.is_available()

    def name(self) -> str:
        """torch has no name for it."""
        return "Apple GPU"

    def rng_states(self) -> list[Tensor]:
        """Of the one generator."""
        return [torch.mps.get_rng_state()]

    def restore_rng(self, states: list[Tensor]) -> None:
        """Put it back."""
        if states:
            torch.mps.set_rng_state(states[0])

    def generator(self, index: int | None) -> torch.Generator:
        """torch shows it by a private name only; without it the host's stands in, and a program that draws on the device is not repeated bit for bit."""
        ask = getattr(torch.mps, "_get_default_mps_generator", None)
        return ask() if ask is not None else torch.default_generator

    def host_copy(self, value: Tensor) -> Tensor:
        """Its memory is the host's: a copy that waits is short, and pinned memory is not to be had."""
        return value.detach().cpu()

    def arrival(self) -> None:
        """Copies are done when they return."""
        return None

    def memory(self) -> DeviceMemory | None:
        """torch.mps counts no peak: what the driver holds stands for it."""
        if not self.awake():
            return None
        held = torch.mps.driver_allocated_memory()
        return DeviceMemory(allocated=torch.mps.current_allocated_memory(), reserved=held, peak=held, total=torch.mps.recommended_max_memory())
