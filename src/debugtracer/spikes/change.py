"""Change alarm: has the level of the residuals changed for good? Bayesian online change-point detection (Adams and
MacKay 2007)."""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

HAZARD = 1.0 / 250.0  # chance of a change at a step (ours)
SHORT = 8  # steps: a run below it speaks for a change just now; 4 missed a learning rate x 8 (benchmarks/spikes.py)
DOUBT = 0.5  # probability of a short run that opens a suspicion (docs/rationale/spikes.md#change-alarm)
WINSOR = 6.0  # MAD; what is learnt is cut here (docs/rationale/spikes.md#lessons)
SIGMA = 1.4826  # standard deviations of a normal distribution in one MAD
TAILS = 4.0  # degrees of freedom: residuals of losses have tails (ours)
PRIOR_COUNT = 0.1  # values that the prior mean of 0 is worth: a new level may lie some deviations away (ours)
NEGLIGIBLE = 1e-4  # run lengths less probable than this are dropped
LONGEST = 24  # run lengths kept apart; older ones are one


class Change(NamedTuple):
    """What is believed after a residual."""

    probability: float
    """Of a run shorter than SHORT."""
    level: float
    """Mean of the residuals since, in MAD, if there was a change."""


class ChangePoint:
    """The distribution over how long the residuals have been as they are: (probability, mean, count) of each run
    length, the youngest first.

    The spread is known, residuals come in MAD; the predictive density is Student-t, so that one outlier is not a
    change.
    """

    def __init__(self) -> None:
        self.runs: list[tuple[float, float, float]] = [(1.0, 0.0, PRIOR_COUNT)]
        self.seen = 0

    def push(self, z: float) -> Change:
        """The belief after a residual in MAD; no change is believed in until a run can be longer than SHORT."""
        value = max(-WINSOR, min(WINSOR, z)) / SIGMA
        self.seen += 1
        grown = []
        total = 0.0
        for p, mean, count in self.runs:  # the inner loop of every step: written out, no calls but one
            off = value - mean
            after = count + 1.0
            variance = after / count
            t2 = 1.0 + off * off / (TAILS * variance)
            # Student-t density of `off` with TAILS degrees of freedom, up to a constant
            p /= t2 * t2 * sqrt(t2 * variance)
            total += p
            grown.append((p, mean + off / after, after))
        stay, least = (1.0 - HAZARD) / total, NEGLIGIBLE * total
        runs = [(HAZARD, 0.0, PRIOR_COUNT)]
        runs += [(p * stay, mean, count) for p, mean, count in grown if p > least]
        if len(runs) > LONGEST:
            runs[LONGEST - 1 :] = [merged(runs[LONGEST - 1 :])]
        self.runs = runs
        if self.seen <= 2 * SHORT:
            return Change(0.0, 0.0)
        probability = weighted = 0.0
        for p, mean, count in runs:
            if count > PRIOR_COUNT + SHORT - 0.5:  # the youngest come first
                break
            probability += p
            weighted += p * mean
        return Change(probability, SIGMA * weighted / probability)


def merged(runs: list[tuple[float, float, float]]) -> tuple[float, float, float]:
    """The likeliest of them, with the probability of all."""
    _, mean, count = max(runs)
    return sum(p for p, _, _ in runs), mean, count
