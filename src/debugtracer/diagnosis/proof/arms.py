"""What came of training with and without a change, and whether the two can be told apart from their spread."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field

from debugtracer.trace.number import number
from debugtracer.trace.verdict import Outcome, Trial

REPEATS = 3  # orders of the batches that each change is tried on (ours)
SIGMAS = 3.0  # spreads that the mean gain has to exceed (ours)
SHARE = 0.05  # of the loss as it was that has to be gained at the least (ours)
RIVAL = 0.5  # of the gain that another change may not reach, or nothing is shown (ours)


@dataclass
class Arm:
    """One change, or none, and the loss after each training with it."""

    name: str
    note: str = ""
    losses: list[float] = field(default_factory=list)
    seconds: float = 0.0
    refused: str = ""

    @property
    def mean(self) -> float:
        """The mean loss; infinite where a training ended in NaN."""
        return statistics.fmean(self.losses) if all(map(math.isfinite, self.losses)) else math.inf

    @property
    def spread(self) -> float:
        """The standard deviation over the repeats."""
        finite = len(self.losses) > 1 and all(map(math.isfinite, self.losses))
        return statistics.stdev(self.losses) if finite else 0.0

    def trial(self, outcome: Outcome) -> Trial:
        """The row of the verdict."""
        return Trial(
            intervention=self.name,
            outcome="could not run" if self.refused else outcome,
            repeats=len(self.losses) or 1,
            loss=None if self.refused else number(self.mean),
            spread=None if self.refused else number(self.spread),
            seconds=round(self.seconds, 6),
            note=self.refused or self.note,
        )


def gain(plain: Arm, changed: Arm) -> float:
    """How much lower the mean loss is with the change; below 0 where it is higher, or the training failed."""
    return -math.inf if changed.refused or not math.isfinite(changed.mean) else plain.mean - changed.mean


def surely_better(plain: Arm, changed: Arm) -> bool:
    """True where every repeat is better with the change, and their mean by far more than they differ among
    themselves."""
    if changed.refused or not math.isfinite(plain.mean) or not math.isfinite(changed.mean):
        return False
    gains = [before - after for before, after in zip(plain.losses, changed.losses, strict=True)]
    noise = max(statistics.stdev(gains), plain.spread, changed.spread)
    return min(gains) > 0 and statistics.fmean(gains) > SIGMAS * noise


def heals(plain: Arm, changed: Arm) -> bool:
    """True where it is surely better, and by enough to matter: any change may gain a little."""
    return surely_better(plain, changed) and gain(plain, changed) > SHARE * abs(plain.mean)


def rivals(plain: Arm, proof: Arm, others: Sequence[Arm]) -> list[Arm]:
    """The changes that do as much, or half as much, as the one that is to prove the cause."""
    return [arm for arm in others if gain(plain, arm) >= RIVAL * gain(plain, proof)]
