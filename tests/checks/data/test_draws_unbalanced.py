"""What is said of the weights of a sampler."""

from __future__ import annotations

from typing import Any

import pytest

from debugtracer.checks.data.draws_unbalanced import DrawsUnbalanced
from debugtracer.trace.finding import Finding
from debugtracer.trace.window import Window
from tests.trace.facts.test_draw_weights import draws

INVERSE = (1 / 960, 1 / 180, 1 / 60)


def judged(**more: Any) -> list[Finding]:
    fact = draws(**more)
    return list(DrawsUnbalanced().judge(Window(fact.ref, facts={type(fact): [fact]}, came={type(fact): 1})))


def mixed(**more: Any) -> list[Finding]:
    known: dict[str, Any] = {
        "weights": INVERSE, "sizes": (960, 180, 60), "drawn": ((130, 24, 8), (140, 26, 9), (135, 25, 8)),
    }  # fmt: skip
    return judged(**(known | more))


def test_it_fires_on_weights_that_follow_the_frequency():
    (finding,) = judged()
    assert finding.message.endswith(
        "WeightedRandomSampler (train.py:16) weighs the samples of Plots with 0.05, 0.15 and 0.8, made at "
        "train.py:15, and 60, 180 and 960 samples have them: the weight follows the frequency, so the smallest group, "
        "0.05 of the samples, is 0.0038 of what is drawn; expected its inverse. Use 1 / counts."
    )
    assert (finding.severity, finding.kind, finding.place.frame.line) == ("warning", "data_class_skew", 15)


def test_classes_of_one_size_share_a_weight():
    two = {"weights": (0.1, 0.8), "sizes": (240, 960), "labels": (0, 1, 2), "drawn": ((9, 8, 0), (0, 0, 480))}
    assert len(judged(**two)) == 1


@pytest.mark.parametrize(("weight", "told"), [(0.81, 1), (0.83, 0)])
def test_at_the_threshold(weight, told):
    assert len(judged(weights=(0.05, 0.15, weight))) == told


def test_it_stays_silent_where_a_label_comes_with_two_weights():
    assert judged(drawn=((0, 0, 2), (0, 20, 0), (490, 0, 9))) == []


def test_it_fires_on_weights_of_other_samples():
    (finding,) = mixed()
    assert "by the inverse of 960, 180 and 60 samples, made at train.py:15, as frequent as its 3 lab" in finding.message


def test_it_stays_silent_on_weights_of_something_else_than_the_labels():
    assert mixed(drawn=((60, 50, 52), (58, 60, 57), (57, 56, 55))) == []
    assert mixed(drawn=((130, 24), (140, 26), (135, 25)), labels=(0, 1)) == []


def test_it_stays_silent_on_the_inverse():
    assert mixed(drawn=((162, 0, 0), (0, 175, 0), (0, 0, 168))) == []


def test_it_stays_silent_without_a_fact():
    assert not list(DrawsUnbalanced().judge(Window(draws().ref)))
