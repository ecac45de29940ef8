"""Is the model that is kept as the best one the best?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from statistics import median
from typing import ClassVar, NamedTuple

from debugtracer.checks.check import Check
from debugtracer.trace.facts.best_kept import BestKept
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.number import as_float
from debugtracer.trace.place import Place
from debugtracer.trace.window import LOSS, VAL_LOSS, Window

STEPS = 16  # whose median is the loss of training (ours)


class Evaluated(NamedTuple):
    """One value of a keeper, and the losses then."""

    value: float
    held_out: float
    training: float


TURN = ("turn the comparison round: score > best for accuracies and other scores, loss < best for losses and errors",)


class BestDirection(Check, frozen=True):
    """What keeps the best model compares the wrong way round: it keeps the worst.

    What it catches
        `ModelCheckpoint(monitor="val_acc")`, whose default is mode="min"; `EarlyStopping` and `metric_for_best_model`
        of transformers' Trainer alike; mode="max" by a loss. `if accuracy < best:` around the lines of a loop that keep
        the weights.
    Why it matters
        Training goes well and the first, least trained model is loaded, tested and shipped.
    How it decides
        By values alone, after `fewest` evaluations with a known loss on held-out data, while that loss and the loss of
        training fall to `fall` of what they were. Mode "min": the least value is the first or the second one; the
        values are shares (of 1, or of 100), rise as both losses fall (rank correlation of `least` or stronger) and come
        to `score` and more, as errors that rise from nothing do not. Mode "max": the largest is the first or the second
        while the values are the loss on held-out data, or its root, times a constant. A loss that rises because the
        model overfits rises with the loss on held-out data. What a loop of the program compares is read where an
        evaluation is over: the variable that is compared with another one and then written to it.
    What to do
        Use mode="max" (greater_is_better=True) for a score, "min" for a loss.
    Example
        step 125, rank 0: ModelCheckpoint (train.py:24) has kept evaluation 1 of 5 as the best, with 0.281 of val_acc:
        the minimum counts. It has risen to 0.916 since, while the loss on held-out data fell from 1.79 to 0.355 and
        that of training from 1.79 to 0.416; expected the maximum. Set mode="max".
    """

    needs: ClassVar[tuple[str | type, ...]] = (BestKept, LOSS, VAL_LOSS)
    kind: ClassVar[str] = "best_reversed"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.8
    remedies: ClassVar[tuple[str, ...]] = (
        'mode="max" (greater_is_better=True) for accuracies and other scores, mode="min" for losses and errors',
    )
    proved_by: ClassVar[str] = "rollback/apple_grades"

    fewest: int = 5  # evaluations (ours)
    fall: float = 0.8  # of the first loss (ours)
    least: float = 0.8  # rank correlation (ours)
    score: float = 0.5  # of the whole: the value at the end (ours)
    rise: float = 0.2  # of its size at the end (ours)
    same: float = 0.02  # deviation of the multiple of the loss (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Gather the evaluations of each keeper; said once."""
        memory = window.memory(self)
        losses, held_out = tuple(window.series.get(LOSS, ()))[-STEPS:], window.now(VAL_LOSS)
        for fact in window.new(BestKept):
            seen = memory.setdefault(fact.keeper, [])
            value = as_float(fact.value)
            if seen is None or not losses or held_out is None or not all(map(math.isfinite, (value, held_out))):
                continue
            seen.append(Evaluated(value, held_out, median(losses)))
            if self.is_reversed(seen, fact.mode):
                memory[fact.keeper] = None
                yield self.describe(window, fact, seen)

    def is_reversed(self, seen: Sequence[Evaluated], mode: str) -> bool:
        """Whether the best that is kept is the worst."""
        begun, now = seen[0], seen[-1]
        if len(seen) < self.fewest or kept(seen, mode) > 1 or min(begun.held_out, begun.training) <= 0:
            return False
        if now.held_out > self.fall * begun.held_out or now.training > self.fall * begun.training:
            return False
        if mode == "max":
            return self.is_loss(seen)
        values = [one.value for one in seen]
        end = median(values[-3:])
        whole = 1.0 if max(values) <= 1 else 100.0
        is_share = min(values) >= 0 and max(values) <= whole
        risen = end >= self.score * whole and end - values[0] >= self.rise * end
        return (
            is_share
            and risen
            and all(
                rank_correlation(values, losses) <= -self.least
                for losses in ([one.held_out for one in seen], [one.training for one in seen])
            )
        )

    def is_loss(self, seen: Sequence[Evaluated]) -> bool:
        """Whether the values are the loss on held-out data, or its root, times a constant."""
        for power in (1.0, 0.5):
            multiples = [one.value / one.held_out**power for one in seen if one.held_out > 0]
            usual = median(multiples) if len(multiples) == len(seen) else 0.0
            if usual > 0 and all(abs(one / usual - 1) <= self.same for one in multiples):
                return True
        return False

    def describe(self, window: Window, fact: BestKept, seen: Sequence[Evaluated]) -> Finding:
        """Build the finding with what the values did."""
        best, right = kept(seen, fact.mode), "max" if fact.mode == "min" else "min"
        name = f"{fact.owner}{spot(fact.frame)}"
        moved = "risen" if right == "max" else "fallen"
        setting = (
            f"greater_is_better={right == 'max'}" if fact.owner == "Trainer" else f'mode="{right}"'
        )  # as it is written there
        claim = f"has kept evaluation {best + 1} of {len(seen)} as the best, with"
        if fact.own:
            name, claim = (
                f"`{fact.owner}`{spot(fact.frame)}",
                f"takes evaluation {best + 1} of {len(seen)} for the best,",
            )
        return self.finding(
            window,
            "warning",
            f"{name} {claim} {seen[best].value:.3g} of "
            f"{fact.monitor}: the {fact.mode}imum counts. It has {moved} to {seen[-1].value:.3g} since, while the loss "
            f"on held-out data fell from {seen[0].held_out:.3g} to {seen[-1].held_out:.3g} and that of training from "
            f"{seen[0].training:.3g} to {seen[-1].training:.3g}; expected the {right}imum. "
            f"{'Turn the comparison round.' if fact.own else f'Set {setting}.'}",
            ref=fact.ref,
            remedies=TURN if fact.own else (),
            place=Place(frame=fact.frame),
            evaluations=float(len(seen)),
        )


def kept(seen: Sequence[Evaluated], mode: str) -> int:
    """Find the evaluation whose model stays, from 0."""
    values = [one.value for one in seen]
    return values.index(min(values) if mode == "min" else max(values))


def rank_correlation(one: Sequence[float], other: Sequence[float]) -> float:
    """The correlation of ranks (Spearman); 0 where one is constant."""
    pairs = [ranks(one), ranks(other)]
    middle = (len(one) - 1) / 2
    a, b = ([rank - middle for rank in ranked] for ranked in pairs)
    size = math.sqrt(sum(x * x for x in a) * sum(y * y for y in b))
    return sum(x * y for x, y in zip(a, b, strict=True)) / size if size else 0.0


def ranks(values: Sequence[float]) -> list[float]:
    """The rank of each value from 0; equal ones share theirs."""
    return [sum(v < one for v in values) + (sum(v == one for v in values) - 1) / 2 for one in values]
