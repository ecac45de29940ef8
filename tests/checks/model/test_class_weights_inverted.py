"""Do the weights of the classes make up for their frequency?"""

from __future__ import annotations

import pytest

from debugtracer.checks.model.class_weights_inverted import ClassWeightsInverted
from debugtracer.checks.model.class_weights_order import ClassWeightsOrder
from debugtracer.trace.facts.class_weights import ClassWeights
from tests.checks.facts_at import judged, line, ref

COUNTS = (20, 264, 16, 100)


def fact(weights, counts=COUNTS, negatives=(), step=2):
    return ClassWeights(
        ref=ref(step), loss="binary_cross_entropy_with_logits" if negatives else "cross_entropy",
        weights=tuple(float(f"{w:.6g}") for w in weights), counts=tuple(counts), looks=3, frame=line(39),
        made=(line(21), line(35)), negatives=tuple(negatives),
    )  # fmt: skip


def told(*facts):
    return judged(ClassWeightsInverted(), list(facts))


def test_a_pos_weight_that_follows_the_labels_is_told_once_with_the_line_that_made_it():
    first = fact([0.0302], (18,), (582,))
    (finding,) = told(first, first)
    assert (finding.severity, finding.kind) == ("warning", "loss_misuse")
    assert (finding.place.frame, finding.place.symptom_frame) == (line(21), line(39))
    assert finding.message == (
        "step 2, rank 0: binary_cross_entropy_with_logits (train.py:39) gives the positive labels the weight 0.0302, "
        "made at train.py:21 -> train.py:35; 3 % of 600 labels are positive, 0.031 times the others: the weight "
        "follows the frequency, so the rarer labels count even less; expected its inverse, about 32. Use n_neg / n_pos."
    )


def test_weights_of_classes_that_are_counts_are_told_and_not_as_another_order():
    given = fact([19.6, 271.0, 15.2, 97.3])
    (finding,) = told(given)
    assert finding.message == (
        "step 2, rank 0: cross_entropy (train.py:39) gives class 2 the weight 15.2 and class 1 271, made at "
        "train.py:21 -> train.py:35; 4 % and 66 % of 400 labels are of them: the weights follow the frequency, so the "
        "rarer class counts even less; expected its inverse. Use total / (classes * counts)."
    )
    two = fact([0.8971, 0.1029], (360, 40))
    assert len(told(two)) == 1 and judged(ClassWeightsOrder(), [two]) == []


@pytest.mark.parametrize(
    ("weights", "counts", "negatives"),
    [
        ([0.05, 0.66, 0.04, 0.25], COUNTS, ()),  # four shares in two digits
        ([0.2513, 0.0312], (40, 12), (160, 400)),  # a weight a column
        ([5.013, 0.0312], (400, 12), (80, 388)),  # a column whose rare label is the negative one
        ([0.2513, 0.002], (40, 1), (160, 400)),  # a column with too few to say
        ([0.66, 0.251, 0.0, 0.09], (264, 100, 0, 36), ()),  # a class that never came
    ],
)
def test_shares_and_columns_are_told(weights, counts, negatives):
    assert len(told(fact(weights, counts, negatives))) == 1


@pytest.mark.parametrize(
    ("weights", "counts", "negatives"),
    [
        ([32.3], (18,), (582,)),  # the inverse
        ([1.0], (18,), (582,)),
        ([0.3], (18,), (582,)),
        ([0.03], (18,), (582,)),  # two digits: chosen
        ([0.8123], (270,), (330,)),  # hardly any imbalance
        ([0.0302], (2,), (62,)),  # too few labels
        ([0.2513, 32.1], (40, 12), (160, 400)),  # one column is right
        ([3.98, 30.1], (40, 12), (160, 400)),
        ([1 / n for n in COUNTS], COUNTS, ()),
        ([n**-0.5 for n in COUNTS], COUNTS, ()),
        ([n**0.5 for n in COUNTS], COUNTS, ()),  # grows with it, not like it
        ([1.0, 1.0, 1.0, 1.01], COUNTS, ()),
        ([0.9, 0.1], (360, 40), ()),  # two digits: chosen
        ([0.1, 1.0, 1.0, 1.0], (370, 10, 10, 10), ()),  # little for the background
        ([19.6, 271.0, 15.2, 97.3], (100, 100, 100, 100), ()),  # a balanced sampler
        ([19.6, float("inf"), 15.2, 97.3], COUNTS, ()),
        ([0.0, 0.0, 0.0], (0, 0, 200), ()),
    ],
)
def test_it_stays_silent(weights, counts, negatives):
    assert told(fact(weights, counts, negatives)) == []


def test_at_the_threshold_of_imbalance():
    assert told(fact([0.3341], (100,), (299,))) == []
    assert len(told(fact([0.3341], (100,), (300,)))) == 1
