"""How much clipping takes away, update by update, and norms that are not finite."""

from __future__ import annotations

import math
from typing import Any

from torch import Tensor
from torch.optim import Optimizer

from debugtracer.probes.frames import raw_frames
from debugtracer.probes.lines import first
from debugtracer.probes.taker import Taker
from debugtracer.trace.facts.clipping import ClipLimit, ClippedNonfinite
from debugtracer.trace.number import number

RATIO = "clip_ratio"  # series: norm before clipping / largest norm allowed
MOST_LIMITS = 64  # limits told per run: one that adapts itself is told no more (ours)
MOST = 3  # norms that are not finite told per run (ours): the first is the one that counts


class ClippingTaker(Taker):
    """Reads the norm that the call returned: on the CPU always, on a device on inspected steps."""

    def __init__(self) -> None:
        super().__init__()
        self.scaled = False
        self.told = self.limits = 0
        self.limit: float | None = None

    def forget(self) -> None:
        """A forked child starts from nothing."""
        self.told = self.limits = 0
        self.limit = None

    def scaler_called(self, word: str, scaler: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """A scaler looks after this update."""
        self.scaled = True

    def step_closed(self, optimizer: Optimizer) -> None:
        """The update is over."""
        self.scaled = False

    def clipped(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], norm: Any) -> None:
        """What the call measured beside its limit."""
        limit = args[1] if len(args) > 1 else kwargs.get("max_norm")
        if not isinstance(norm, Tensor) or norm.numel() != 1 or not isinstance(limit, (int, float)) or not (norm.device.type == "cpu" or self.desk.inspecting):
            return
        value = float(norm.item())
        if math.isfinite(value):
            if 0 < limit < math.inf:
                self.desk.put(RATIO, value / float(limit))
                self.tell_limit(float(limit))
        elif self.told < MOST:
            self.told += 1
            self.desk.tell(
                ClippedNonfinite(ref=self.desk.ref("clip", self.desk.iteration - 1), frame=first(raw_frames(1)), norm=number(value), scaled=self.scaled)
            )

    def tell_limit(self, limit: float) -> None:
        """When it is another one."""
        if limit != self.limit and self.limits < MOST_LIMITS:
            self.limit, self.limits = limit, self.limits + 1
            self.desk.tell(ClipLimit(ref=self.desk.ref("clip", self.desk.iteration - 1), limit=limit, frame=first(raw_frames(1))))
