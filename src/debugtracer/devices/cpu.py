"""The host itself."""

from __future__ import annotations

import torch
from torch import Tensor

from debugtracer.devices.device import Device


class Cpu(Device):
    """Always there; its copies are done when they return, and the health facts count its memory elsewhere."""

    kind = "cpu"

    def awake(self) -> bool:
        """Always."""
        return True

    def usable(self) -> bool:
        """Always."""
        return True

    def name(self) -> str:
        """As torch calls it."""
        return self.kind

    def rng_states(self) -> list[Tensor]:
        """The one default generator."""
        return [torch.default_generator.get_state()]

    def restore_rng(self, states: list[Tensor]) -> None:
        """Put it back."""
        torch.default_generator.set_state(states[0])

    def generator(self, index: int | None) -> torch.Generator:
        """The one default generator."""
        return torch.default_generator

    def host_copy(self, value: Tensor) -> Tensor:
        """A clone."""
        return value.clone()

    def arrival(self) -> None:
        """Done when it returns."""
        return None

    def memory(self) -> None:
        """No device memory."""
        return None
