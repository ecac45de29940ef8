"""Lets torch swap tensors that we refer to weakly: module conversion of DTensor, quantised and other wrapper weights
does it on each .to()."""

from __future__ import annotations

import torch.utils

from debugtracer.hooks.hook import AlwaysOn, Patches
from debugtracer.recorder.state.weak import UnnoticedWeakref


class SwapTensorsHook(AlwaysOn):
    """One name in torch.utils."""

    def __init__(self) -> None:
        self.patches = Patches()

    def install(self) -> None:
        """Patch the module that `torch.utils.swap_tensors` asks whether anybody refers to a tensor."""
        if hasattr(torch.utils, "weakref"):
            self.patches.put(torch.utils, "weakref", UnnoticedWeakref())

    def remove(self) -> None:
        self.patches.undo()
