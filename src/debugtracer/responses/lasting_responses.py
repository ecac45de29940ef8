"""What responses keep up for a while: lowered rates and scales, clipped gradients, full precision."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from torch.optim import Optimizer

from debugtracer.responses.clipped_gradient import ClippedGradient
from debugtracer.responses.full_precision_segment import FullPrecisionSegment
from debugtracer.responses.held_scale import HeldScale
from debugtracer.responses.lowered_rate import LoweredRate


class LastingResponses:
    """One per process; each of them ends by itself, or where it has not helped."""

    def __init__(self) -> None:
        self.chosen: dict[str, list[LoweredRate | ClippedGradient]] = {}
        """Of responses that the user has chosen, by their slugs."""
        self.lowered: list[LoweredRate] = []
        """Of the last roll-back that lowered the rates."""
        self.full_precision: FullPrecisionSegment | None = None
        self.scale: HeldScale | None = None

    def end(self) -> None:
        """Let the training be the program's own again."""
        self.end_full_precision()
        self.end_lowered_rates()
        self.end_chosen()
        self.end_scale()

    def lower_scale(self, scaler: Any, optimizer: Optimizer) -> tuple[float, float]:
        """Lower the scale of a GradScaler and hold it for a while; the answer: what it was, and what it is once the
        program has backed off after this update too."""
        self.end_scale()
        self.scale = HeldScale(scaler, optimizer)
        return self.scale.before, self.scale.now * float(scaler.get_backoff_factor())

    def end_scale(self) -> None:
        """Let a scale that was lowered grow again."""
        if self.scale is not None:
            self.scale.end()
        self.scale = None

    def use_full_precision(self, optimizer: Optimizer) -> None:
        """Switch autocast off for a while."""
        self.end_full_precision()
        self.full_precision = FullPrecisionSegment(optimizer)

    def end_full_precision(self) -> bool:
        """Let autocast work again; False where it does already."""
        segment = self.full_precision
        if segment is None or not segment.active:
            return False
        segment.end()
        return True

    def keep_lowered(self, lowered: Iterable[LoweredRate]) -> None:
        """Keep the rates that a roll-back has lowered, in place of those of the one before."""
        self.end_lowered_rates()
        self.lowered = list(lowered)

    def end_lowered_rates(self) -> bool:
        """Give the optimizers their own learning rates; False where they have them already."""
        active = [lowered for lowered in self.lowered if lowered.handles]
        for lowered in active:
            lowered.end()
        return bool(active)

    def lower_rates(self, slug: str, optimizer: Optimizer) -> None:
        """Lower the learning rates for a while, in the name of a response."""
        self.chosen[slug] = [LoweredRate(optimizer)]

    def clip_gradients(self, slug: str, optimizer: Optimizer, limit: float) -> None:
        """Clip gradients to a norm for a while, in the name of a response."""
        self.chosen[slug] = [ClippedGradient(optimizer, limit)]

    def end_chosen(self) -> list[str]:
        """End what such responses keep up; the answer: the slugs of those that were at work."""
        ended = [slug for slug, kept in self.chosen.items() if any(one.handles for one in kept)]
        for one in (one for kept in self.chosen.values() for one in kept):
            one.end()
        self.chosen.clear()
        return ended
