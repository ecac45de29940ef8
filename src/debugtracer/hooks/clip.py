"""Clipping calls, so that a replay clips as the loop did."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from debugtracer.hooks.events.loop_events import LoopEvents
from debugtracer.hooks.events.training_thread import TrainingThread
from debugtracer.hooks.hook import Patches, Switch
from debugtracer.hooks.skipped_code import compiling

Call = Callable[..., Any]
NAMES = ("clip_grad_norm_", "clip_grad_value_")


class ClipHook(Switch):
    """Patches torch.nn.utils.clip_grad_*; code that imported the name before us keeps the old function."""

    def __init__(self, events: LoopEvents, thread: TrainingThread) -> None:
        super().__init__()
        self.events, self.thread = events, thread
        self.patches = Patches()

    def install(self) -> None:
        """Patch both places where the functions are looked up."""
        for name in NAMES:
            stand_in = self.wrapped(getattr(torch.nn.utils, name))
            for owner in (torch.nn.utils, torch.nn.utils.clip_grad):
                self.patches.put(owner, name, stand_in)

    def remove(self) -> None:
        self.patches.undo()

    def wrapped(self, original: Call) -> Call:
        """Wrap one clipping function, so that the tape sees its calls."""

        @functools.wraps(original)
        def clip(parameters: Any, *args: Any, **kwargs: Any) -> Any:
            if compiling() or self.off or self.thread.elsewhere():
                return original(parameters, *args, **kwargs)
            # a generator can be read once only
            kept = parameters if isinstance(parameters, Tensor) else list(parameters)
            return self.events.clip(original, (kept, *args), kwargs)

        return clip
