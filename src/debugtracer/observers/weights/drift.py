"""The way of one number that is trained: its values and gradients at several looks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

FAR = 16.0  # from the first value (ours: exp of it is 9e6, beyond what a loss in float32 tells apart)
KEPT = 0.9  # of the gradient's size in the second half (ours: one that comes to rest loses it)


class Drift:
    """Values and gradients, one for each look."""

    def __init__(self, values: list[float], gradients: list[float]) -> None:
        self.values, self.gradients = values, gradients
        self.half = len(values) // 2

    def goes_on(self) -> bool:
        """Whether it went far, always one way and down its gradient, which stayed what it was."""
        steps = [b - a for a, b in pairwise(self.values)]
        late = self.gradients[self.half :]
        if not all(map(math.isfinite, (*self.values, *late))) or abs(self.values[-1] - self.values[0]) < FAR:
            return False
        one_way = all(s > 0 for s in steps) or all(s < 0 for s in steps)
        downhill = all(g * steps[-1] < 0 for g in late)
        return one_way and downhill and self.kept() >= KEPT

    def kept(self) -> float:
        """The least by the largest size of the gradient in the second half."""
        sizes = [abs(g) for g in self.gradients[self.half :]]
        return min(sizes) / max(sizes) if max(sizes) > 0 else 0.0

    def explained(self) -> float:
        """What the loss falls by through this number alone in the second half: gradient times way."""
        late = list(zip(self.values, self.gradients, strict=True))[self.half :]
        return -sum((v2 - v1) * (g1 + g2) / 2 for (v1, g1), (v2, g2) in pairwise(late))


def furthest(drifts: Sequence[Drift]) -> Drift:
    """Choose the drift whose last value lies farthest from its first."""
    return max(drifts, key=lambda drift: abs(drift.values[-1] - drift.values[0]))
