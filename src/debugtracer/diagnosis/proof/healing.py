"""Is a step healed? Its numbers after a trial beside those of the healthy steps before it."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence

from debugtracer.replay.trials.score import Score
from debugtracer.trace.window import GRAD_L2, LOSS

# a gradient norm beyond this many times the largest of the last healthy steps is no healthy one (ours: healthy runs
# stay below 4)
TIMES = 10.0
PROBE_TIMES = 2.0  # a healthy batch may lose this much by one update: worse of the last losses, times this (ours)


def is_healed(score: Score, recent: Mapping[str, Sequence[float]]) -> bool:
    """True when all is finite, and neither gradients nor a healthy batch's loss after the update are far out of the
    usual."""
    if not score.finite:
        return False
    norms = [v for v in recent.get(GRAD_L2, ()) if math.isfinite(v)]
    if score.grad_l2 is not None and len(norms) >= 3 and score.grad_l2 > TIMES * max(norms):
        return False
    losses = [v for v in recent.get(LOSS, ()) if math.isfinite(v)]
    if score.loss is not None and len(losses) >= 3 and score.loss > band(losses, TIMES):
        return False
    return score.probe_loss is None or len(losses) < 3 or score.probe_loss <= band(losses)


def band(losses: Sequence[float], times: float = PROBE_TIMES) -> float:
    """The largest loss that still counts as healthy: so many times the worst of the last ones above their median, also
    where losses are negative."""
    middle, worst = statistics.median(losses), max(losses)
    return middle + times * max(worst - middle, abs(middle), 1e-6)
