"""Looks at the clips of a loop that writes its weights itself: does one meet a gradient that is still to be used?"""

from __future__ import annotations

import math
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor

from debugtracer.callsites.frames import RawFrames, raw_frames
from debugtracer.callsites.line import first
from debugtracer.observers.graph.model_origins import is_plain
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer
from debugtracer.trace.facts.own_clip import OwnClip

LOOKS = 4  # clips that are told (ours)
MOST_UPDATES = 16  # updates of a run that are looked at (ours): before them nothing rests


class Clip(NamedTuple):
    """One call that changed no gradient of use."""

    limit: float
    why: Literal["none", "used"]
    raw: RawFrames


class OwnClipsObserver(Observer):
    """Silent once an optimizer has stepped, once a clip was of use, and after a few looks."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.clip: Clip | None = None
        self.weights: list[float] | None = None
        """Sums of the weights right after the last backward."""
        self.number = 0

    def reset(self) -> None:
        self.clip, self.weights, self.number = None, None, 0

    def clipped(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], norm: Any) -> None:
        """Note a clip that met no gradient, or one that was used; the first that met another ends it."""
        limit = args[1] if len(args) > 1 else kwargs.get("max_norm", kwargs.get("clip_value"))
        if self.over() or not isinstance(limit, (int, float)) or not math.isfinite(limit):
            return
        held = self.held()
        if not held:
            return
        if self.empty(held, norm):
            self.clip = Clip(float(limit), "none", raw_frames(1))
        elif self.weights is not None and self.weights != sums(held):
            self.clip = Clip(float(limit), "used", raw_frames(1))
        else:
            self.end()

    def backward_ended(self, losses: list[Tensor]) -> None:
        """Emit a clip before this backward where the loop moves its weights, and gradients are there."""
        if self.over():
            return
        held = self.held()
        clip, self.clip = self.clip, None
        if clip is not None and self.run.state.own_updates and any(p.grad is not None for p in held):
            self.number += 1
            ref = self.run.ref("clip", self.run.iteration - 1)
            self.run.emit(OwnClip(ref=ref, frame=first(clip.raw), limit=clip.limit, why=clip.why, number=self.number))
        self.weights = sums(held)
        if self.number >= LOOKS:
            self.end()

    def over(self) -> bool:
        """Whether there is nothing more to see: an optimizer has taken over, or the first updates are over."""
        over = self.run.state.stepped or self.run.iteration > MOST_UPDATES
        if over:
            self.end()
        return over

    def end(self) -> None:
        """Listen to the clips of this run no more."""
        self.clip, self.weights = None, None
        self.run.unsubscribe(self.clipped, self.backward_ended)

    def held(self) -> list[Tensor]:
        """The weights in host memory."""
        held = [p for model in self.run.modules() for p in model.parameters()]
        return [p for p in held if is_plain(p)]

    def empty(self, held: list[Tensor], norm: Any) -> bool:
        """Whether no weight has a gradient, or all are 0."""
        if all(p.grad is None for p in held):
            return True
        return isinstance(norm, Tensor) and norm.device.type == "cpu" and norm.numel() == 1 and float(norm.item()) == 0


def sums(held: list[Tensor]) -> list[float]:
    """The sum of each weight: an update changes one of them."""
    with torch.no_grad():
        return [float(p.detach().double().sum()) for p in held]
