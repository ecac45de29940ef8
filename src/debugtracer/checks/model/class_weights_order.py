"""Are the weights of the classes in the order of the classes?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.checks.model.class_weights_inverted import inverted_by, is_round
from debugtracer.trace.facts.class_weights import ClassWeights
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.made_at import made_at
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

POWERS = (1.0, 0.5)  # of the inverse share of a class that weights are taken of (ours: its root is a milder one)
BENT = 5  # classes from which one number more may be fitted: that of weights by effective numbers (ours)
BENDS = 240  # values of it that are tried (ours)
LEAST_BENT, MOST_BENT = 0.01, 6.0  # decades in which the largest one comes near its limit (ours)


class ClassWeightsOrder(Check, frozen=True):
    """The weight of a class is that of another class.

    What it catches
        `weight=` of a cross entropy that is listed by frequency (`Counter.most_common`, `value_counts`), by name, or in
        the order of first meeting, while the loss reads the class ids from it.
    Why it matters
        A rare class weighs least and a common one most: the opposite of what the weights are for. The loss falls and
        the accuracy looks fine, the rare class is never found.
    How it decides
        The labels of the loss are counted on inspected steps. Weights that are inverse shares of classes (or roots of
        them, or those of class-balanced losses, `(1 - beta) / (1 - beta ** n)`, of 5 classes or more) name the shares
        they were made of, which are at least `least` nats a label away from the counted ones.
        Sorted by size both are the same, up to what counting gives and half of `fit` of that distance, once so many
        labels were counted that they give less than `fit` of it. Weights that fit in no order (balanced samplers),
        round ones (chosen by hand), and classes of weight 0, are left alone; so are the shares themselves, of which
        `model/class-weights-inverted` tells.
    What to do
        Make them in the order of the class ids: `[total / counts[i] for i in range(classes)]`, or
        `torch.bincount(labels)`.
    Example
        step 2, rank 0: cross_entropy (train.py:71) gives class 0 the weight 0.154, made at train.py:36, that fits a
        class with 50 % of the labels; 4.7 % of 192 labels are of class 0; sorted by size all 5 weights are the inverse
        shares; expected them in the order of the class ids. Make them by class id.
    """

    needs: ClassVar[tuple[type[ClassWeights]]] = (ClassWeights,)
    kind: ClassVar[str] = "loss_misuse"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.85
    remedies: ClassVar[tuple[str, ...]] = (
        "make the weights in the order of the class ids: total / torch.bincount(labels, minlength=classes)",
        "or look each class up by its id where the list is made",
    )
    proved_by: ClassVar[str] = "model/quarry_stones"

    labels: int = 100  # counted at least (ours)
    fit: float = 0.01  # of the divergence in the order given (ours)
    least: float = 0.1  # nats a label in the order given (ours: classes of much the same share may go in any order)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Say it once for each line."""
        memory = window.memory(self)
        for fact in window.new(ClassWeights):
            if fact.frame not in memory and sum(fact.counts) >= self.labels and self.is_disordered(fact):
                memory[fact.frame] = True
                yield self.describe(window, fact)

    def is_disordered(self, fact: ClassWeights) -> bool:
        """Whether the weights fit the labels in another order alone."""
        kept = [(w, n) for w, n in zip(fact.weights, fact.counts, strict=True) if w > 0]
        if fact.negatives or inverted_by(fact) is not None:
            return False
        if not all(math.isfinite(w) for w, _ in kept) or all(is_round(w) for w, _ in kept):
            return False
        counts = [n for _, n in kept]
        total = sum(counts)
        for implied in made_of([w for w, _ in kept]):
            given, best = divergence(counts, implied), divergence(sorted(counts), sorted(implied))
            noise = (len(kept) - 1) / (2 * max(total, 1))  # what counting so few labels gives
            if given >= self.least and noise <= self.fit * given and best <= 2 * noise + self.fit / 2 * given:
                return True
        return False

    def describe(self, window: Window, fact: ClassWeights) -> Finding:
        """Build the finding with the class that is farthest from its own weight."""
        total, kept = sum(fact.counts), sum(w > 0 for w in fact.weights)
        by_share = sorted((n for n, w in zip(fact.counts, fact.weights, strict=True) if w > 0), reverse=True)
        by_weight = sorted((i for i, w in enumerate(fact.weights) if w > 0), key=fact.weights.__getitem__)
        fits = dict(zip(by_weight, by_share, strict=True))
        worst = max(fits, key=lambda i: abs(math.log((fact.counts[i] + 1) / (fits[i] + 1))))
        return self.finding(
            window,
            "warning",
            f"{fact.loss}{spot(fact.frame)} gives class {worst} the weight {fact.weights[worst]:.3g}"
            f"{made_at(fact.made)}, that fits a class with {100 * fits[worst] / total:.2g} % of the labels; "
            f"{100 * fact.counts[worst] / total:.2g} % of {total} labels are of class {worst}; sorted by size "
            f"all {kept} weights are the inverse shares; expected them in the order of the class ids. Make them by "
            "class id.",
            ref=fact.ref,
            place=Place(frame=fact.made[0] if fact.made else fact.frame, symptom_frame=fact.frame),
            misplaced=float(kept),
            weight=fact.weights[worst],
        )  # fmt: skip


def made_of(weights: Sequence[float]) -> Iterator[list[float]]:
    """Yield the shares that weights may be made of: inverse ones and their roots; and by effective numbers, where
    1 / w is 1 - beta ** n up to a factor, so that n is -log(1 - s / w) up to one, for some s."""
    for power in POWERS:
        yield shares([w ** (-1 / power) for w in weights])
    if len(weights) < BENT:
        return
    least = min(weights)
    for n in range(BENDS):
        near = 10 ** -(LEAST_BENT + (MOST_BENT - LEAST_BENT) * n / (BENDS - 1))
        yield shares([-math.log1p((near - 1) * least / w) for w in weights])


def shares(values: Sequence[float]) -> list[float]:
    """The values as parts of their sum."""
    total = sum(values)
    return [value / total for value in values]


def divergence(counts: Sequence[int], implied: Sequence[float]) -> float:
    """The Kullback-Leibler divergence of counted labels from shares, nats a label."""
    total = max(sum(counts), 1)
    return sum(n / total * math.log(n / total / p) for n, p in zip(counts, implied, strict=True) if n)
