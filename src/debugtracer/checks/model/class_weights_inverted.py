"""Do the weights of the classes make up for their frequency?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.class_weights import ClassWeights
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.made_at import made_at
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

CLOSE = 1.25  # times, between a weight and the share that it is proportional to (ours)
APART = 3.0  # times, between the most and the least frequent class (ours)
LEAST = 10  # labels of a class that is compared (ours: ten are counted to a third)


class ClassWeightsInverted(Check, frozen=True):
    """The weights of the classes grow with their frequency.

    What it catches
        `pos_weight=n_pos / n_neg` where `n_neg / n_pos` was meant; `weight=counts / total` where its inverse was meant.
    Why it matters
        The rare class, which weighs too little already, weighs less by the same factor again. The loss falls and the
        accuracy looks fine, the rare class is never found.
    How it decides
        The labels of the loss are counted on inspected steps. Each weight is within 25 % of the share of its class (of
        `n_pos / n_neg` for `pos_weight`), and what counting so few gives; the most frequent class has three times the
        labels of the least frequent.
        A class with fewer than 10 labels, in the count and by its weight, does not count. Two weights, or one, that two
        digits say are left alone: somebody chose them.
    What to do
        Take the inverse: `pos_weight=n_neg / n_pos`, `weight=total / (classes * counts)`.
    Example
        step 2, rank 0: binary_cross_entropy_with_logits (train.py:60) gives the positive labels the weight 0.0302, made
        at train.py:36; 3 % of 600 labels are positive, 0.031 times the others: the weight follows the frequency, so the
        rarer labels count even less; expected its inverse, about 32. Use n_neg / n_pos.
    """

    needs: ClassVar[tuple[type[ClassWeights]]] = (ClassWeights,)
    kind: ClassVar[str] = "loss_misuse"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.85
    remedies: ClassVar[tuple[str, ...]] = (
        "take the inverse: pos_weight=n_neg / n_pos, weight=total / (classes * counts)",
        "or leave the weights out",
    )
    proved_by: ClassVar[str] = "model/heron_cameras"

    labels: int = 100  # counted at least (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Say it once for each line."""
        memory = window.memory(self)
        for fact in window.new(ClassWeights):
            if fact.frame in memory or sum(fact.counts) + sum(fact.negatives) < self.labels:
                continue
            found = inverted_by(fact)
            if found is not None:
                memory[fact.frame] = True
                yield self.describe(window, fact, found)

    def describe(self, window: Window, fact: ClassWeights, rarest: int) -> Finding:
        """Build the finding with the class that is worst off."""
        weight, count = fact.weights[rarest], fact.counts[rarest]
        if fact.negatives:
            total = count + fact.negatives[rarest]
            column = f" of column {rarest}" if len(fact.weights) > 1 else ""
            ratio = count / fact.negatives[rarest]
            said = (
                f"the positive labels{column} the weight {weight:.3g}{made_at(fact.made)}; {100 * count / total:.2g} % "
                f"of {total} labels are positive, {ratio:.2g} times the others: the weight follows the frequency, so "
                f"the rarer labels count even less; expected its inverse, about {1 / ratio:.2g}. Use n_neg / n_pos."
            )
        else:
            total, most = sum(fact.counts), max(range(len(fact.counts)), key=fact.counts.__getitem__)
            said = (
                f"class {rarest} the weight {weight:.3g} and class {most} {fact.weights[most]:.3g}"
                f"{made_at(fact.made)}; {100 * count / total:.2g} % and {100 * fact.counts[most] / total:.2g} % of "
                f"{total} labels are of them: the weights follow the frequency, so the rarer class counts even less; "
                "expected its inverse. Use total / (classes * counts)."
            )
        return self.finding(
            window,
            "warning",
            f"{fact.loss}{spot(fact.frame)} gives {said}",
            ref=fact.ref,
            place=Place(frame=fact.made[0] if fact.made else fact.frame, symptom_frame=fact.frame),
            weight=weight,
            counted=float(total),
        )


def inverted_by(fact: ClassWeights) -> int | None:
    """The class (or column) that is worst off where the weights follow the frequency; None where they do not."""
    chosen = len(fact.weights) <= 2 and all(is_round(weight) for weight in fact.weights)
    if chosen or not all(math.isfinite(w) and w >= 0 for w in fact.weights) or not any(fact.weights):
        return None
    compared = list(columns(fact) if fact.negatives else classes(fact))
    if not compared or not all(agrees for _, _, agrees in compared):
        return None
    common = max(size for _, size, _ in compared)
    rarest, size, _ = min(compared, key=lambda one: one[1])
    return rarest if common >= APART * size else None


def classes(fact: ClassWeights) -> Iterator[tuple[int, float, bool]]:
    """Yield each class that can be compared, its labels, and whether its weight is like its share."""
    scale = sum(fact.counts) / sum(fact.weights)
    for place, (weight, count) in enumerate(zip(fact.weights, fact.counts, strict=True)):
        if max(weight * scale, count) >= LEAST:
            yield place, float(count), is_close(weight * scale, count)


def columns(fact: ClassWeights) -> Iterator[tuple[int, float, bool]]:
    """Yield each column that can be compared, with the share of its frequent and of its rare label in the frequent one,
    and whether its weight is like the ratio of its labels."""
    for place, (weight, count, rest) in enumerate(zip(fact.weights, fact.counts, fact.negatives, strict=True)):
        meant = (count + rest) * weight / (1 + weight)
        if min(count, rest) >= LEAST or min(meant, count + rest - meant) >= LEAST:
            agrees = is_close(weight * rest, count)
            yield place, 1.0, agrees
            yield place, min(count, rest) / max(count, rest), agrees


def is_close(meant: float, count: float) -> bool:
    """Whether labels are as many as meant, up to CLOSE and what counting so few gives."""
    margin = CLOSE * (1 + 1 / math.sqrt(max(count, 1.0)))
    return meant <= margin * count and count <= margin * meant


def is_round(weight: float) -> bool:
    """Whether two digits say it: somebody chose it."""
    return float(f"{weight:.2g}") == weight
