"""Losses that stand at log 2 from the first of them on."""

from __future__ import annotations

import math
import random

from debugtracer.checks.optimizer.loss_at_log_two import LossAtLogTwo
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.constant_answer import ConstantAnswer
from tests.spikes.series import falling, findings, ref

OTHER = [20.0 + 0.1 * step for step in range(170)]


def at(level: float, count: int = 300, noise: float = 0.02, seed: int = 3) -> list[float]:
    chance = random.Random(seed)
    return [level + noise * chance.gauss(0, 1) for _ in range(count)]


def test_a_loss_that_is_log_two_after_losses_of_another_kind_is_a_note():
    (found,) = findings(LossAtLogTwo(), OTHER + at(math.log(2), 600))
    assert (found.severity, found.step, found.symptom) == ("note", 399, "no_learning")
    assert "the losses of 224 steps in a row had a median of 0.69" in found.message
    assert "after losses of 35.15; expected below log 2 = 0.6931" in found.message


def test_so_is_one_that_begins_there():
    (found,) = findings(LossAtLogTwo(), at(math.log(2)))
    assert found.step == 223
    assert "from the first one of them on; expected" in found.message


def test_a_loss_that_came_down_there_has_learnt_something():
    assert not findings(LossAtLogTwo(), falling(900, start=0.8, end=0.69, noise=0.01))
    assert not findings(LossAtLogTwo(), at(0.74, 100) + at(math.log(2), 600))


def test_one_that_is_near_or_falls_slowly_is_left_alone():
    assert not findings(LossAtLogTwo(), at(0.681, 600, noise=0.005))
    assert not findings(LossAtLogTwo(), [math.log(2) + 0.006 - 0.012 * step / 223 for step in range(224)])
    assert not findings(LossAtLogTwo(), at(math.log(2), 200))


def test_one_block_elsewhere_begins_the_count_anew():
    broken = at(math.log(2), 208) + at(0.6, 16) + at(math.log(2), 208)
    assert not findings(LossAtLogTwo(), broken)


def test_inputs_and_labels_that_were_shuffled_apart_are_a_warning_at_the_second_draw():
    drawn = (Frame("/p/coins.py", 27), Frame("/p/coins.py", 28))
    fact = ConstantAnswer(
        ref=ref(0), loss="binary_cross_entropy_with_logits", answer="shares", value=0.7, called=0.7, constant=0.69,
        rows=64, drawn=drawn,
    )  # fmt: skip
    (found,) = findings(LossAtLogTwo(), at(math.log(2)), [fact])
    assert (found.severity, found.kind, found.place.frame) == ("warning", "targets_misaligned", drawn[1])
    assert "a random order each, by two draws, coins.py:27 and coins.py:28, so they do not belong" in found.message
