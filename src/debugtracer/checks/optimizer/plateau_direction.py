"""Does a plateau scheduler take improvement for none?"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import median
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.counted import counted
from debugtracer.trace.facts.plateau_fed import PlateauFed
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.number import as_float
from debugtracer.trace.place import Place
from debugtracer.trace.window import LOSS, Window

SCORE = re.compile(
    r"(?<![a-z])(acc|accuracy|score|dice|iou|miou|f1|auc|auroc|map|r2|bleu|rouge|psnr|ssim|reward|returns?|precision|"
    r"recall|correct|kappa|ndcg)(?![a-z])"
)


class PlateauDirection(Check, frozen=True):
    """ReduceLROnPlateau waits for the wrong direction, and lowers the rate because the value improves.

    What it catches
        `ReduceLROnPlateau(optimizer, mode="max")` that is stepped with a loss; mode "min" (the default) that is stepped
        with an accuracy, a Dice score or a reward.
    Why it matters
        Each improvement counts as a bad epoch: the rate falls every few epochs, and the model stops where it is.
    How it decides
        In mode "max" the rate was lowered `cuts` times by values that fall; the same values in mode "min" would never
        have lowered it. The value is an error: the loss of training falls with it, and at the first call and at the
        last it is within `like` times that loss, or its square root. In mode "min" the other way round: the values up
        to the first cut (after it a rate that is too low may hold them where they are) would not have lowered the rate
        in mode "max", they rise while the loss of training falls, and the name of what is handed in is that of a score,
        so it is no validation loss of a model that overfits.
    What to do
        Use mode="min" for a loss or an error.
    Example
        step 111, rank 0: ReduceLROnPlateau (train.py:45) has lowered the rate 2 times (0.02 to 0.0008) while its value
        fell from 0.31 to 0.05, as the loss did: it has mode "max"; expected mode "min", by which it had not been
        lowered once. Set mode="min".
    """

    needs: ClassVar[tuple[str | type, ...]] = (PlateauFed, LOSS)
    kind: ClassVar[str] = "scheduler_misuse"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = (
        'ReduceLROnPlateau(optimizer, mode="min") for a loss or an error; mode="max" is for accuracies',
    )
    proved_by: ClassVar[str] = "optimizer/greenhouse_glass"

    cuts: int = 2  # times that the rate was lowered (ours)
    like: float = 5.0  # times (ours: an error of validation beside the loss of training)
    fall: float = 0.9  # of its first value (ours)
    drift: float = 2.0  # times that the multiple may change (ours: an accuracy that falls does not follow the loss)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Gather the calls of each scheduler; said once."""
        memory = window.memory(self)
        losses = tuple(window.series.get(LOSS, ()))[-16:]
        for fact in window.new(PlateauFed):
            calls = memory.setdefault(fact.scheduler, [])
            if calls is None or not losses or (fact.mode == "min" and not is_score(fact)):
                continue
            calls.append((fact, median(losses)))
            first_cut = self.wrong_way(calls)
            if first_cut is None:
                continue
            memory[fact.scheduler] = None
            seen = [f for f, _ in calls]
            yield self.describe(window, seen, first_cut)

    def describe(self, window: Window, seen: Sequence[PlateauFed], first_cut: PlateauFed) -> Finding:
        """Build the finding with what the value did."""
        fact, right = seen[-1], "min" if seen[-1].mode == "max" else "max"
        moved, as_well = ("fell", "as the loss did") if right == "min" else ("rose", "as the loss fell")
        then = " then" if would_lower(fact, [as_float(f.value) for f in seen]) else " once"
        return self.finding(
            window,
            "warning",
            f"ReduceLROnPlateau{spot(fact.frame)} has lowered the rate {counted(len(lowered(seen)), 'time')} "
            f"({as_float(seen[0].rate):.3g} to {as_float(fact.rate):.3g}) while its value {moved} from "
            f'{as_float(seen[0].value):.3g} to {as_float(fact.value):.3g}, {as_well}: it has mode "{fact.mode}"; '
            f'expected mode "{right}", by which it had not been lowered{then}. Set mode="{right}".',
            ref=first_cut.ref,
            place=Place(frame=fact.frame, symptom_frame=fact.step_frame),
            cuts=float(len(lowered(seen))),
        )

    def wrong_way(self, calls: Sequence[tuple[PlateauFed, float]]) -> PlateauFed | None:
        """The call that lowered the rate first, where the direction is wrong."""
        seen, values = [f for f, _ in calls], [as_float(f.value) for f, _ in calls]
        cuts = lowered(seen)
        if len(cuts) < self.cuts or calls[-1][1] >= calls[0][1]:
            return None
        if seen[0].mode == "min":
            to_cut = values[: seen.index(cuts[0]) + 1]
            risen = all(values[0] >= 0 and v * self.fall >= values[0] != v for v in (to_cut[-1], values[-1]))
            return cuts[0] if risen and not would_lower(seen[0], to_cut) else None
        if would_lower(seen[0], values):
            return None
        if values[-1] > self.fall * values[0]:
            return None
        return cuts[0] if self.follows(values, [loss for _, loss in calls]) else None

    def follows(self, values: Sequence[float], losses: Sequence[float]) -> bool:
        """Whether the values have the size of the losses, or of their roots, and fall with them."""
        if min(losses[0], losses[-1]) <= 0 or values[-1] <= 0:
            return False
        for power in (1.0, 0.5):
            begun, now = values[0] / losses[0] ** power, values[-1] / losses[-1] ** power
            sized = all(1 / self.like <= one <= self.like for one in (begun, now))
            if sized and 1 / self.drift <= begun / now <= self.drift:
                return True
        return False


def is_score(fact: PlateauFed) -> bool:
    """Whether the line that steps the scheduler calls what it hands in a score: larger is better."""
    code = fact.step_frame.code if fact.step_frame is not None else ""
    given = code.partition(".step(")[2].lower()
    return SCORE.search(given) is not None and "loss" not in given and "err" not in given


def lowered(seen: Sequence[PlateauFed]) -> list[PlateauFed]:
    """The calls after which the rate was lower than before."""
    return [b for a, b in pairwise(seen) if as_float(b.rate) < as_float(a.rate)]


def would_lower(fact: PlateauFed, values: Sequence[float]) -> bool:
    """Whether the same scheduler in the other mode would have lowered the rate once by these values. Scores are turned
    round, and a relative threshold with them."""
    best, bad, sign = float("inf"), 0, 1 if fact.mode == "max" else -1
    for value in (sign * v for v in values):
        share = fact.threshold * abs(best) if math.isfinite(best) else 0.0
        better = value < best - (share if fact.relative else fact.threshold)
        best, bad = (value, 0) if better else (best, bad + 1)
        if bad > fact.patience:
            return True
    return False
