"""NVIDIA GPUs, and AMD's through ROCm."""

from __future__ import annotations

from typing import ClassVar

import torch

from debugtracer.devices.device import Device


class Cuda(Device):
    """torch.cuda. Last run on an H100 with this file: not yet (no GPU was lent since it was written)."""

    kind = "cuda"
    doubles: ClassVar[bool] = True  # bound by memory also where float64 runs at 1/64: an addition for each 4 bytes read
    blocking: ClassVar[str] = "CUDA_LAUNCH_BLOCKING"

    def generator(self, index: int | None) -> torch.Generator:
        """The generators exist once CUDA is initialised, which a replay in a fresh process asks for here."""
        torch.cuda.init()
        return super().generator(index)
