"""Are the weights of the classes in the order of the classes?"""

from __future__ import annotations

import pytest

from debugtracer.checks.model.class_weights_order import ClassWeightsOrder
from debugtracer.trace.facts.class_weights import ClassWeights
from tests.checks.facts_at import judged, line, ref

SHARES = (0.05, 0.66, 0.04, 0.25)
COUNTS = (20, 264, 16, 100)


def fact(weights, counts=COUNTS, step=2):
    return ClassWeights(
        ref=ref(step), loss="cross_entropy", weights=tuple(float(f"{w:.6g}") for w in weights), counts=tuple(counts),
        looks=3, frame=line(39), made=(line(21), line(35)),
    )  # fmt: skip


def of(shares, power=1.0):
    return [0.25 * share**-power for share in shares]


def test_weights_by_frequency_are_told_once_with_the_line_that_made_them():
    first = fact(of(sorted(SHARES, reverse=True)))
    (finding,) = judged(ClassWeightsOrder(), [first, first])
    assert (finding.severity, finding.kind) == ("warning", "loss_misuse")
    assert (finding.place.frame, finding.place.symptom_frame) == (line(21), line(39))
    assert finding.message == (
        "step 2, rank 0: cross_entropy (train.py:39) gives class 0 the weight 0.379, made at train.py:21 -> "
        "train.py:35, that fits a class with 66 % of the labels; 5 % of 400 labels are of class 0; sorted by size all "
        "4 weights are the inverse shares; expected them in the order of the class ids. Make them by class id."
    )


@pytest.mark.parametrize(
    "weights",
    [
        of(sorted(SHARES), 0.5),  # roots
        of([0.66, 0.05, 0.25, 0.04]),
    ],
)
def test_roots_and_other_orders_are_told_too(weights):
    assert len(judged(ClassWeightsOrder(), [fact(weights)])) == 1


def balanced(shares, beta=0.999, rows=4000):
    """Weights of a class-balanced loss: by the effective number of each class."""
    return [(1 - beta) / (1 - beta ** (rows * share)) for share in shares]


@pytest.mark.parametrize("beta", [0.99, 0.999, 0.9999])
def test_effective_numbers_in_another_order_are_told_and_in_theirs_not(beta):
    given, counts = (0.05, 0.6, 0.03, 0.2, 0.12), (20, 240, 12, 80, 48)
    assert len(judged(ClassWeightsOrder(), [fact(balanced(sorted(given), beta, 400), counts)])) == 1
    assert judged(ClassWeightsOrder(), [fact(balanced(given, beta, 400), counts)]) == []


def test_classes_without_weight_do_not_count():
    weights = [0.0, *of(sorted(SHARES, reverse=True))]
    assert len(judged(ClassWeightsOrder(), [fact(weights, (900, *COUNTS))])) == 1


@pytest.mark.parametrize(
    ("weights", "counts"),
    [
        (of(SHARES), COUNTS),
        (of(SHARES, 0.5), COUNTS),
        ([min(w, 3.0) for w in of(SHARES)], COUNTS),
        (of(sorted(SHARES, reverse=True)), (100, 100, 100, 100)),  # a balanced sampler
        ([10.0, 20.0, 2.0, 5.0], COUNTS),  # round: by hand
        ([1.37, 2.91, 0.822, 1.13], COUNTS),
        (of([0.24, 0.26, 0.245, 0.255]), (102, 98, 104, 96)),  # much the same: any order will do
        (of(sorted(SHARES, reverse=True)), (2, 26, 2, 10)),  # too few labels
        ([1.25, float("inf"), 2.5, 3.5], COUNTS),
    ],
)
def test_it_stays_silent(weights, counts):
    assert judged(ClassWeightsOrder(), [fact(weights, counts)]) == []
