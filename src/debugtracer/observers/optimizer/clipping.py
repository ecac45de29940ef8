"""Measures how much clipping removes in each update, and finds norms that are not finite."""

from __future__ import annotations

import math
from typing import Any, Literal

from torch import Tensor, nn
from torch.optim import Optimizer

from debugtracer.callsites.frames import raw_frames
from debugtracer.callsites.line import first
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer
from debugtracer.trace.facts.clipping import ClipLimit, ClippedNonfinite
from debugtracer.trace.number import number
from debugtracer.trace.window import CLIP_RATIO

MOST_LIMITS = 64  # limits emitted per run: one that adapts itself is emitted no more (ours)
MOST = 3  # norms that are not finite emitted per run (ours): the first is the one that counts


class ClippingObserver(Observer):
    """Reads the norm that the call returned: on the CPU always, on a device on inspected steps."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.scaled = False
        self.emitted = self.limits = 0
        self.limit: float | None = None

    def reset(self) -> None:
        self.emitted = self.limits = 0
        self.limit = None

    def scaler_called(self, word: str, scaler: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Note that a scaler handles this update."""
        self.scaled = True

    def step_closed(self, optimizer: Optimizer) -> None:
        """Reset the note of a scaler for the next update."""
        self.scaled = False

    def clipped(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], norm: Any) -> None:
        """Compare the norm that the call measured with its limit."""
        limit = args[1] if len(args) > 1 else kwargs.get("max_norm")
        if (
            not isinstance(norm, Tensor)
            or norm.numel() != 1
            or not isinstance(limit, (int, float))
            or not (norm.device.type == "cpu" or self.run.inspecting)
        ):
            return
        value = float(norm.item())
        if math.isfinite(value):
            if 0 < limit < math.inf:
                self.run.put(CLIP_RATIO, value / float(limit))
                self.emit_limit(float(limit))
        elif self.emitted < MOST:
            self.emitted += 1
            self.run.emit(
                ClippedNonfinite(
                    ref=self.run.ref("clip", self.run.iteration - 1),
                    frame=first(raw_frames(1)),
                    norm=number(value),
                    scaled=self.scaled,
                )
            )

    def emit_limit(self, limit: float) -> None:
        """Emit the limit when it is another one than before."""
        if limit != self.limit and self.limits < MOST_LIMITS:
            self.limit, self.limits = limit, self.limits + 1
            ref, model = self.run.ref("clip", self.run.iteration - 1), self.model_kind()
            self.run.emit(ClipLimit(ref=ref, limit=limit, frame=first(raw_frames(1)), model=model))

    def model_kind(self) -> Literal["", "attention", "recurrent"]:
        """What the models hold, by the layers of torch and the names of their classes."""
        layers = [layer for model in self.run.modules() for layer in model.modules()]
        if any(isinstance(layer, (nn.RNNBase, nn.RNNCellBase)) for layer in layers):
            return "recurrent"
        names = (kind.__name__ for layer in layers for kind in type(layer).__mro__)
        return "attention" if any(name.endswith("Attention") for name in names) else ""
