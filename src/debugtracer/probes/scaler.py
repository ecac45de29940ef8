"""GradScaler: which scaled loss stands for which loss, when gradients are unscaled, which steps it skips."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from debugtracer.probes.probe import Patches
from debugtracer.recorder.weak import Weak

Call = Callable[..., Any]


class Scalers:
    """Patches torch.amp.GradScaler (torch.cuda.amp.GradScaler inherits)."""

    def __init__(
        self,
        handle: Callable[[str, Any, Call, tuple[Any, ...], dict[str, Any]], Any] = lambda word, scaler, original, args, kwargs: original(
            scaler, *args, **kwargs
        ),
    ) -> None:
        self.handle = handle
        """Called with ("scale" | "unscale" | "step" | "update", scaler, original, args, kwargs); runs the original."""
        self.patches = Patches()
        self.losses: dict[int, tuple[weakref.ref[Tensor], weakref.ref[Tensor]]] = {}
        self.elsewhere: Callable[[], bool] = lambda: False
        """True in a thread that does not train."""
        self.depth = 0
        self.off = False

    def install(self) -> None:
        """Patch the four methods."""
        for name, word in (("scale", "scale"), ("unscale_", "unscale"), ("step", "step"), ("update", "update")):
            self.patches.wrap(torch.amp.GradScaler, name, functools.partial(self.wrapped, word))

    def remove(self) -> None:
        """Restore them."""
        self.patches.undo()

    def wrapped(self, word: str, original: Call) -> Call:
        """One method; calls the scaler makes to itself pass."""

        @functools.wraps(original)
        def method(scaler: Any, /, *args: Any, **kwargs: Any) -> Any:
            if self.off or self.elsewhere() or self.depth or not scaler.is_enabled():
                return original(scaler, *args, **kwargs)
            self.depth += 1
            try:
                return self.handle(word, scaler, original, args, kwargs)
            finally:
                self.depth -= 1

        return method

    def scaled(self, loss: Any, output: Any) -> None:
        """Remember that `output` is `loss` times the scale."""
        if isinstance(loss, Tensor) and isinstance(output, Tensor):
            self.losses = {k: v for k, v in self.losses.items() if v[0]() is not None}
            self.losses[id(output)] = (Weak(output), Weak(loss))

    def is_unscaled(self, scaler: Any, optimizer: Any) -> bool:
        """True when unscale_ was called for this optimizer since the last update."""
        state = scaler._per_optimizer_states.get(id(optimizer))
        return state is not None and getattr(state.get("stage"), "name", "READY") != "READY"

    def unscaled(self, tensor: Tensor) -> Tensor:
        """The loss behind a scaled loss, or the tensor itself."""
        found = self.losses.get(id(tensor))
        loss = found[1]() if found is not None and found[0]() is tensor else None
        return tensor if loss is None else loss


def current_scale(scaler: Any) -> float | None:
    """The loss scale without a host sync on CPU; None before the first use or on a device."""
    scale = scaler._scale
    return float(scale.item()) if isinstance(scale, Tensor) and scale.device.type == "cpu" else None
