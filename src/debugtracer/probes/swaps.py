"""Lets torch swap tensors that we refer to weakly: module conversion of DTensor, quantised and other wrapper weights does it on each .to()."""

from __future__ import annotations

import torch.utils

from debugtracer.probes.probe import Patches
from debugtracer.recorder.weak import Unnoticed


class Swaps:
    """One name in torch.utils."""

    def __init__(self) -> None:
        self.patches = Patches()

    def install(self) -> None:
        """`torch.utils.swap_tensors` asks there whether anybody refers to a tensor."""
        if hasattr(torch.utils, "weakref"):
            self.patches.put(torch.utils, "weakref", Unnoticed())

    def remove(self) -> None:
        """As it was."""
        self.patches.undo()
