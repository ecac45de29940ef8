"""Steps that are judged however late the judge is: those whose loss or gradient stands out, or is not finite."""

from __future__ import annotations

import math
from collections.abc import Mapping

from debugtracer.trace.window import GRAD_L2

TIMES = 2.0  # the largest norm of late, above which a step stands out (ours)
FADE = 0.98  # of that norm is left after a step (ours: half after 34)


class StandingOut:
    """One per run. Half a microsecond a step."""

    def __init__(self) -> None:
        self.top = math.inf
        """The largest norm of late; infinite before the first."""

    def seen(self, values: Mapping[str, float], loss_stands_out: bool) -> bool:
        """Take the numbers of a step; whether it stands out."""
        norm = values.get(GRAD_L2)
        if norm is None:
            return loss_stands_out
        top = self.top
        if norm <= TIMES * top:
            self.top = max(norm, FADE * top) if top < math.inf else norm
            return loss_stands_out
        self.top = norm if norm < math.inf else top  # false for NaN
        return True
