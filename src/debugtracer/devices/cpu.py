"""The CPU, which is the host itself."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor

from debugtracer.devices.device import Device


class Cpu(Device):
    """Always there; its copies are done when they return, and the health facts count its memory elsewhere."""

    kind = "cpu"
    sums_float64: ClassVar[bool] = True

    def awake(self) -> bool:
        """Return True: every process uses the host."""
        return True

    def usable(self) -> bool:
        """Return True: every machine has a host."""
        return True

    def name(self) -> str:
        """The name that torch uses."""
        return self.kind

    def rng_states(self) -> list[Tensor]:
        """The default generator, the only one of the host."""
        return [torch.default_generator.get_state()]

    def restore_rng(self, states: list[Tensor]) -> None:
        """Restore the state of the default generator."""
        torch.default_generator.set_state(states[0])

    def generator(self, index: int | None) -> torch.Generator:
        """The default generator, the only one of the host."""
        return torch.default_generator

    def host_copy(self, value: Tensor) -> Tensor:
        """Clone the value, so that later writes do not reach it."""
        return value.clone()

    def arrival(self) -> None:
        """Return None: a copy is done when it returns."""
        return None

    def memory(self) -> None:
        """Return None: the host has no device memory."""
        return None
