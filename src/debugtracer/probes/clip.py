"""Clipping calls, so that a replay clips as the loop did."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from debugtracer.probes.probe import Patches
from debugtracer.probes.skipped_code import compiling

Call = Callable[..., Any]
NAMES = ("clip_grad_norm_", "clip_grad_value_")


class Clips:
    """Patches torch.nn.utils.clip_grad_*; code that imported the name before us keeps the old function."""

    def __init__(self, handle: Callable[[Call, tuple[Any, ...], dict[str, Any]], Any]) -> None:
        self.handle = handle
        """Runs the original; the parameters are a list by then."""
        self.patches = Patches()
        self.elsewhere: Callable[[], bool] = lambda: False
        """True in a thread that does not train."""
        self.off = False

    def install(self) -> None:
        """Patch both places where the functions are looked up."""
        for name in NAMES:
            stand_in = self.wrapped(getattr(torch.nn.utils, name))
            for owner in (torch.nn.utils, torch.nn.utils.clip_grad):
                self.patches.put(owner, name, stand_in)

    def remove(self) -> None:
        """Restore them."""
        self.patches.undo()

    def wrapped(self, original: Call) -> Call:
        """One clipping function."""

        @functools.wraps(original)
        def clip(parameters: Any, *args: Any, **kwargs: Any) -> Any:
            if compiling() or self.off or self.elsewhere():
                return original(parameters, *args, **kwargs)
            kept = parameters if isinstance(parameters, Tensor) else list(parameters)  # a generator can be read once only
            return self.handle(original, (kept, *args), kwargs)

        return clip
