"""NVIDIA GPUs, and AMD's through ROCm."""

from __future__ import annotations

from typing import ClassVar

import torch

from debugtracer.devices.device import Device


class Cuda(Device):
    """torch.cuda. Last run on an H200, 2026-11-27 (docs/devices.md#on-a-gpu)."""

    kind = "cuda"
    sums_float64: ClassVar[bool] = (
        True  # bound by memory also where float64 runs at 1/64: an addition for each 4 bytes read
    )
    blocking: ClassVar[str] = "CUDA_LAUNCH_BLOCKING"

    def generator(self, index: int | None) -> torch.Generator:
        """The generators exist once CUDA is initialised, which a replay in a fresh process asks for here."""
        torch.cuda.init()
        return super().generator(index)
