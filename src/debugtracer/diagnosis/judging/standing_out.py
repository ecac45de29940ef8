"""Steps that are judged however late the judge is: those whose loss or gradient stands out, or is not finite."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

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
        return self.seen_all((values.get(GRAD_L2),), (loss_stands_out,))[0]

    def seen_all(self, norms: Iterable[float | None], losses: Iterable[int | bool]) -> list[bool]:
        """Take the norms of steps in their order, and whether the loss of each stands out; whether each does."""
        top, rows = self.top, []
        for norm, loss in zip(norms, losses, strict=True):
            if norm is None:
                rows.append(bool(loss))
            elif norm <= TIMES * top:
                top = max(norm, FADE * top) if top < math.inf else norm
                rows.append(bool(loss))
            else:
                top = norm if norm < math.inf else top  # false for NaN
                rows.append(True)
        self.top = top
        return rows
