"""What responses keep up for a while: lowered rates, clipped gradients, full precision."""

from __future__ import annotations

from torch.optim import Optimizer

from debugtracer.responses.clipped_gradient import ClippedGradient
from debugtracer.responses.full_precision_segment import FullPrecisionSegment
from debugtracer.responses.lowered_rate import LoweredRate


class LastingResponses:
    """One per process; each of them ends by itself, or where it has not helped."""

    def __init__(self) -> None:
        self.chosen: dict[str, list[LoweredRate | ClippedGradient]] = {}
        """Of responses that the user has chosen, by their slugs."""
        self.lowered: list[LoweredRate] = []
        """Of the last roll-back that lowered the rates."""
        self.full_precision: FullPrecisionSegment | None = None

    def end(self) -> None:
        """Let the training be the program's own again."""
        self.end_full_precision()
        self.end_lowered_rates()
        self.end_chosen()

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
