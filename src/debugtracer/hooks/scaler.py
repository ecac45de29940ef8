"""GradScaler: its four methods are reported, and read where that needs no host sync."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from debugtracer.hooks.events.loop_events import LoopEvents
from debugtracer.hooks.events.training_thread import TrainingThread
from debugtracer.hooks.hook import OutermostCalls

Call = Callable[..., Any]


class ScalerHook(OutermostCalls):
    """Patches torch.amp.GradScaler (torch.cuda.amp.GradScaler inherits)."""

    def __init__(self, events: LoopEvents, thread: TrainingThread) -> None:
        super().__init__()
        self.events, self.thread = events, thread

    def install(self) -> None:
        """Patch the four methods."""
        for name, word in (("scale", "scale"), ("unscale_", "unscale"), ("step", "step"), ("update", "update")):
            self.patches.wrap(torch.amp.GradScaler, name, functools.partial(self.wrapped, word))

    def remove(self) -> None:
        self.patches.undo()

    def wrapped(self, word: str, original: Call) -> Call:
        """Wrap one method; calls the scaler makes to itself are not noted."""

        @functools.wraps(original)
        def method(scaler: Any, /, *args: Any, **kwargs: Any) -> Any:
            if self.off or self.thread.elsewhere() or self.depth or not scaler.is_enabled():
                return original(scaler, *args, **kwargs)
            self.depth += 1
            try:
                return self.events.scaler_call(word, scaler, original, args, kwargs)
            finally:
                self.depth -= 1

        return method


def is_unscaled(scaler: Any, optimizer: Any) -> bool:
    """True when unscale_ was called for this optimizer since the last update."""
    state = scaler._per_optimizer_states.get(id(optimizer))
    return state is not None and getattr(state.get("stage"), "name", "READY") != "READY"


def current_scale(scaler: Any) -> float | None:
    """The loss scale without a host sync on CPU; None before the first use or on a device."""
    scale = scaler._scale
    return float(scale.item()) if isinstance(scale, Tensor) and scale.device.type == "cpu" else None
